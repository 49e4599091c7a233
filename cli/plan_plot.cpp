// The figure of weir plan: two panels over memory, drawn directly as SVG.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>

#include "plan_report.hpp"
#include "sizes.hpp"

namespace weir::cli {
namespace {

constexpr double left = 84, width = 520, top = 46, height = 190, gap = 62;
// Told apart by people who see colours differently, too (Okabe and Ito 2008).
constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                   "#e69f00", "#56b4e9", "#666666"};

struct Axis {
  double low, high;  // as they are drawn: logarithms
  [[nodiscard]] double at(double x) const { return (x - low) / (high - low); }
};

std::string power_of_ten(int exponent) {
  if (exponent >= -3) return fmt::format("{:g}", std::pow(10, exponent));
  return fmt::format("10<tspan dy=\"-5\" font-size=\"9\">{}</tspan>", exponent);
}

class Figure {
 public:
  Figure(const std::vector<std::vector<Candidate>>& points, const Candidate& chosen)
      : points_(points), chosen_(chosen) {
    for (const auto& point : points)
      memory_.push_back(std::log2(static_cast<double>(point.front().request.memory)));
    x_ = {memory_.front(), memory_.back()};
  }

  std::string draw() {
    const double all = top + 2 * height + gap + 60;
    svg_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 {0}\" width=\"760\" "
        "height=\"{0}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        all);
    text(left, 24, fmt::format("Errors against memory, wanted FPR {:.4g}", chosen_.request.fpr),
         "start", "font-size=\"15\" font-weight=\"bold\"");
    panel(
        top, "FNR: repeats let through", [](const Candidate& c) { return c.fnr.value_or(0); },
        true);
    panel(
        top + height + gap, "FPR: new records taken for repeats",
        [](const Candidate& c) { return c.fpr; }, false);
    text(left + width / 2, all - 12, "memory", "middle");
    return svg_ + "</svg>\n";
  }

 private:
  using Value = std::function<double(const Candidate&)>;

  void text(double x, double y, const std::string& what, const char* anchor,
            const std::string& more = {}) {
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" {}>{}</text>\n", x, y,
                        anchor, more, what);
  }
  void line(double x1, double y1, double x2, double y2, const char* style) {
    svg_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1,
                        y1, x2, y2, style);
  }

  [[nodiscard]] Axis range(const Value& value) const {
    double low = 0, high = -9;
    for (const auto& point : points_)
      for (const Candidate& c : point)
        if (c.trouble.empty() && value(c) > 0) {
          low = std::min(low, std::log10(value(c)));
          high = std::max(high, std::log10(value(c)));
        }
    return {std::max(std::floor(low), std::ceil(high) - 6), std::max(std::ceil(high), -8.0)};
  }

  void panel(double y, const char* title, const Value& value, bool names) {
    const Axis axis = range(value);
    text(left, y - 6, title, "start");
    for (int e = static_cast<int>(axis.low); e <= static_cast<int>(axis.high); ++e) {
      const double at = y + height * (1 - axis.at(e));
      line(left, at, left + width, at, "stroke=\"#e4e4e4\"");
      text(left - 8, at + 4, power_of_ten(e), "end", "fill=\"#333\"");
    }
    const int step = x_.high - x_.low > 12 ? 4 : 2;
    for (int e = static_cast<int>(std::ceil(x_.low)); e <= x_.high; ++e) {
      const double at = left + width * x_.at(e);
      const bool named = e % step == 0;
      line(at, y + height, at, y + height + (named ? 6 : 3), "stroke=\"#333\"");
      if (named)
        text(at, y + height + 20, write_size(std::uint64_t{1} << e), "middle", "fill=\"#333\"");
    }
    const double chosen =
        left + width * x_.at(std::log2(static_cast<double>(chosen_.request.memory)));
    line(chosen, y, chosen, y + height, "stroke=\"#999\" stroke-dasharray=\"3 3\"");
    svg_ += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333\"/>\n",
        left, y, width, height);
    for (std::size_t f = 0; f < points_.front().size(); ++f) curve(f, y, axis, value);
    if (names) legend(y);
  }

  // What is 0 is not drawn: there is no place for it on a logarithmic axis.
  void curve(std::size_t f, double y, const Axis& axis, const Value& value) {
    std::string path;
    bool pen = false;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Candidate& c = points_[i][f];
      const double v = c.trouble.empty() ? value(c) : 0;
      if (v <= 0 || std::log10(v) < axis.low) {
        pen = false;
        continue;
      }
      path += fmt::format("{}{:.1f} {:.1f} ", pen ? "L" : "M", left + width * x_.at(memory_[i]),
                          y + height * (1 - axis.at(std::log10(v))));
      pen = true;
    }
    const bool bold = points_.front()[f].spec == chosen_.spec;
    if (!path.empty())
      svg_ += fmt::format(
          "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
          "stroke-linejoin=\"round\"/>\n",
          path, colours[f % std::size(colours)], bold ? 3 : 1.6);
  }

  void legend(double y) {
    double at = y + 14;
    for (std::size_t f = 0; f < points_.front().size(); ++f) {
      const bool any = std::any_of(points_.begin(), points_.end(),
                                   [&](const auto& point) { return point[f].trouble.empty(); });
      if (!any) continue;
      const std::string& spec = points_.front()[f].spec;
      line(left + width + 14, at - 4, left + width + 36, at - 4,
           fmt::format("stroke=\"{}\" stroke-width=\"{}\"", colours[f % std::size(colours)],
                       spec == chosen_.spec ? 3 : 1.6)
               .c_str());
      text(left + width + 42, at, spec.substr(0, spec.find(':')), "start");
      at += 20;
    }
  }

  const std::vector<std::vector<Candidate>>& points_;
  const Candidate& chosen_;
  std::vector<double> memory_;
  Axis x_{};
  std::string svg_;
};

}  // namespace

void write_plot(const std::string& file, const std::vector<std::vector<Candidate>>& points,
                const Candidate& chosen) {
  const std::string svg = Figure(points, chosen).draw();
  std::FILE* const out = std::fopen(file.c_str(), "w");
  const bool written = out != nullptr && std::fwrite(svg.data(), 1, svg.size(), out) == svg.size();
  const bool closed = out != nullptr && std::fclose(out) == 0;
  if (!written || !closed)
    throw Error(ErrorCode::Io, "cannot write " + file + ": " + std::strerror(errno));
}

}  // namespace weir::cli
