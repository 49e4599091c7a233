#include "chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "axis.hpp"
#include "gnuplot.hpp"
#include "text.hpp"

namespace weir::lab {
namespace {

// In pixels of a chart at its own size; on a phone it is shown at about 0.6 of that.
constexpr double width = 560, plot_height = 270, top = 62, font = 14;
constexpr double letter = 7.6;  // width of an average one
constexpr double legend_row = 22, sample = 30;

constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                   "#e69f00", "#56b4e9", "#4d4d4d"};
constexpr int shapes[] = {7, 5, 9, 13, 11, 15, 4};  // filled ones first: open ones are pale
constexpr const char* dashes[] = {"(8,5)", "(3,4)", "(14,4,3,4)"};

// How a line is drawn.
struct Look {
  const char* colour;
  int shape;         // 0: none
  std::string dash;  // empty: solid
  double line = 2;   // 0: points only
};

// As a string of gnuplot. What could mean something to it is written as a number: quotes,
// backslashes, and backticks, which would run a command. It takes a digit behind such a number for
// a part of it, so that goes the same way.
std::string quoted(const std::string& text) {
  std::string safe = "\"";
  bool number = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    number = std::string_view("\"'\\`@$").find(c) != std::string_view::npos ||
             (number && std::isdigit(byte) != 0);
    if (number)
      safe += fmt::format("\\{:03o}", byte);
    else
      safe += byte < ' ' ? ' ' : c;
  }
  return safe + "\"";
}

std::string labelled(const std::string& label, const Axis& axis) {
  if (axis.unit_name.empty()) return label;
  return label.empty() ? axis.unit_name : label + ", " + axis.unit_name;
}

bool is_variant(const Line& line, const Line& of) {
  return line.style != of.style && line.name.size() > of.name.size() && !of.name.empty() &&
         line.name.compare(0, of.name.size(), of.name) == 0 &&
         std::isalnum(static_cast<unsigned char>(line.name[of.name.size()])) == 0;
}

std::vector<Look> looks_of(const std::vector<Line>& lines) {
  std::vector<Look> looks;
  std::vector<std::size_t> hues;
  std::size_t hue = 0, dashed = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::size_t of = 0;
    while (of < i && !is_variant(lines[i], lines[of])) ++of;
    hues.push_back(of < i ? hues[of] : hue++);
    const std::size_t place = hues.back() % std::size(colours);
    const std::size_t round = hues.back() / std::size(colours);
    Look look{colours[place], shapes[(place + round) % std::size(shapes)],
              round == 0 ? "" : dashes[(round - 1) % std::size(dashes)]};
    if (lines[i].style == Line::Style::Dashed) {
      look.shape = 0;
      look.line = 1.8;  // gnuplot joins what has equal colour and width, whatever its dashes
      // Of one colour they are told apart by it; else by the pattern, too.
      look.dash = dashes[of < i ? 0 : dashed++ % std::size(dashes)];
    } else if (lines[i].style == Line::Style::Points) {
      look.line = 0;
    } else if (lines[i].style == Line::Style::Steps) {
      look.shape = 0;
    }
    looks.push_back(look);
  }
  return looks;
}

class Script {
 public:
  explicit Script(const Chart& chart) : chart_(chart), looks_(looks_of(chart.lines)) {
    std::vector<double> xs, ys;
    for (const Line& line : chart.lines)
      for (const Point& p : line.points)
        if (std::isfinite(p.x) && std::isfinite(p.y) && !(chart.log_x && p.x <= 0)) {
          xs.push_back(p.x), ys.push_back(p.y), ys.push_back(p.y + p.error);
          // A band that reaches 0 must not stretch a log axis to the end of the world.
          ys.push_back(chart.log_y ? std::max(p.y - p.error, p.y / 2) : p.y - p.error);
        }
    x_ = axis_of(xs, chart.log_x, false), y_ = axis_of(ys, chart.log_y, true);
    std::size_t longest = 1;
    for (const Tick& tick : y_.ticks) longest = std::max(longest, letters(tick.label));
    left_ = 24 + letter * static_cast<double>(longest);
    // The last label may stand at the very end of the axis.
    right_ = x_.ticks.empty()
                 ? 18
                 : 14 + letter / 2 * static_cast<double>(letters(x_.ticks.back().label));
    arrange_legend();
    height_ = top + plot_height + 52 + legend_row * static_cast<double>(legend_rows_) + 8;
  }

  std::string write() {
    head();
    ticks("xtics", x_), ticks("ytics", y_);
    legend();
    std::string plot;
    const auto add = [&](const std::string& what) { plot += (plot.empty() ? "" : ", ") + what; };
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) data(i);
    for (std::size_t i = 0; i < chart_.lines.size(); ++i)
      if (looks_[i].line > 0 && has_band(i)) add(band(i));
    for (std::size_t i = 0; i < chart_.lines.size(); ++i)
      if (any_[i]) add(curve(i));
    if (plot.empty()) {
      text_ += "set label 'nothing to show' at graph 0.5, graph 0.5 center\n";
      plot = "NaN";
    }
    return text_ + "plot " + plot + "\n";
  }

 private:
  template <typename... Values>
  void say(fmt::format_string<Values...> form, Values&&... values) {
    text_ += fmt::format(form, std::forward<Values>(values)...);
    text_ += '\n';
  }
  // A place in pixels from the upper left corner, as gnuplot understands it.
  [[nodiscard]] std::string at(double x, double y) const {
    return fmt::format("screen {:.5f}, screen {:.5f}", x / width, 1 - y / height_);
  }

  void head() {
    say("set encoding utf8");
    say("set terminal svg size {},{} dynamic noenhanced font 'Helvetica,{}' rounded background rgb "
        "'white'",
        width, height_, font);
    say("set lmargin at screen {:.5f}", left_ / width);
    say("set rmargin at screen {:.5f}", 1 - right_ / width);
    say("set tmargin at screen {:.5f}", 1 - top / height_);
    say("set bmargin at screen {:.5f}", 1 - (top + plot_height) / height_);
    say("set border 3 lw 0.8 lc rgb '#555555'");
    say("set tics nomirror out scale 0.6,0.3 textcolor rgb '#333333'");
    say("set grid ytics back lt 1 lw 0.7 lc rgb '#e6e6e6'");
    say("set bars 0");
    say("set pointintervalbox 0.01");  // no white around points; 0 would mean the default
    say("unset key");
    say("set label {} at {} font 'Helvetica:Bold,15'", quoted(chart_.title), at(8, 18));
    say("set label {} at {} textcolor rgb '#333333'", quoted(labelled(chart_.y_label, y_)),
        at(8, 42));
    say("set label {} at {} center textcolor rgb '#333333'", quoted(labelled(chart_.x_label, x_)),
        at((left_ + width - right_) / 2, top + plot_height + 42));
    if (x_.log) say("set logscale x");
    if (y_.log) say("set logscale y");
    say("set xrange [{:.12g}:{:.12g}]", x_.low, x_.high);
    say("set yrange [{:.12g}:{:.12g}]", y_.low, y_.high);
  }

  void ticks(const char* which, const Axis& axis) {
    std::string list;
    for (const Tick& tick : axis.ticks)
      list += fmt::format("{}{} {:.12g} {}", list.empty() ? "" : ", ", quoted(tick.label), tick.at,
                          tick.label.empty() ? 1 : 0);
    say("set {} {} ({})", which, &axis == &x_ ? "offset 0,0.4" : "offset 0.3,0", list);
  }

  void arrange_legend() {
    std::size_t longest = 0, names = 0;
    for (const Line& line : chart_.lines) {
      names_.push_back(line.name);
      const auto shown = [&](const Point& p) { return x_.holds(p.x) && y_.holds(p.y); };
      if (y_.log && !line.name.empty() && !line.points.empty() &&
          std::none_of(line.points.begin(), line.points.end(), shown))
        names_.back() += " (0: not shown)";
      if (!line.name.empty()) ++names, longest = std::max(longest, letters(names_.back()));
    }
    if (names == 0) return;
    const double entry = sample + 30 + letter * static_cast<double>(longest);
    legend_columns_ = static_cast<std::size_t>(std::clamp((width - 16) / entry, 1.0, 4.0));
    legend_columns_ = std::min(legend_columns_, names);
    legend_rows_ = (names + legend_columns_ - 1) / legend_columns_;
    // The columns even out what is left in the last row.
    legend_columns_ = (names + legend_rows_ - 1) / legend_rows_;
    column_width_ = std::min(entry + 12, (width - 16) / static_cast<double>(legend_columns_));
  }

  void legend() {
    std::size_t place = 0;
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      if (chart_.lines[i].name.empty()) continue;
      const double x = 10 + column_width_ * static_cast<double>(place % legend_columns_);
      const double y =
          top + plot_height + 70 + legend_row * static_cast<double>(place / legend_columns_);
      const Look& look = looks_[i];
      if (look.line > 0)
        say("set arrow from {} to {} nohead {}", at(x, y), at(x + sample, y), stroke(look));
      if (look.shape != 0)
        say("set label '' at {} point pt {} ps 0.6 lc rgb '{}'", at(x + sample / 2, y), look.shape,
            look.colour);
      say("set label {} at {}", quoted(names_[i]), at(x + sample + 8, y));
      ++place;
    }
  }

  // Columns: x, y, lower and upper end of the band. An empty line breaks the curve.
  void data(std::size_t i) {
    const Line& line = chart_.lines[i];
    say("$d{} << END", i);
    bool any = false;
    double before = NAN;  // the step's height so far
    std::string row;
    for (const Point& p : line.points) {
      if (!x_.holds(p.x) || !y_.holds(p.y)) {
        say(""), before = NAN;
        continue;
      }
      const double x = p.x / x_.unit, y = p.y / y_.unit, error = p.error / y_.unit;
      if (line.style == Line::Style::Steps && std::isfinite(before)) say("{:.8g} {}", x, row);
      row = fmt::format("{:.8g} {:.8g} {:.8g}", y, std::max(y - error, y_.low),
                        std::min(y + error, y_.high));
      say("{:.8g} {}", x, row);
      before = y, any = true;
    }
    say("END");
    any_.push_back(any);
  }
  [[nodiscard]] bool has_band(std::size_t i) const {
    const auto& points = chart_.lines[i].points;
    return any_[i] &&
           std::any_of(points.begin(), points.end(), [](const Point& p) { return p.error > 0; });
  }

  static std::string stroke(const Look& look) {
    return fmt::format("lw {} lc rgb '{}'{}", look.line, look.colour,
                       look.dash.empty() ? " dt solid" : " dt " + look.dash);
  }
  static std::string band(std::size_t i, const char* colour) {
    return fmt::format(
        "$d{} using 1:3:4 with filledcurves lc rgb '{}' fs transparent solid 0.2 "
        "noborder",
        i, colour);
  }
  [[nodiscard]] std::string band(std::size_t i) const { return band(i, looks_[i].colour); }
  [[nodiscard]] std::string curve(std::size_t i) const {
    const Look& look = looks_[i];
    const std::string points = fmt::format("pt {} ps 0.6 lc rgb '{}'", look.shape, look.colour);
    if (look.line == 0)
      return has_band(i) ? fmt::format("$d{} using 1:2:3:4 with yerrorbars lw 1.2 {}", i, points)
                         : fmt::format("$d{} using 1:2 with points {}", i, points);
    if (look.shape == 0) return fmt::format("$d{} using 1:2 with lines {}", i, stroke(look));
    // Of many points a few are marked, enough to tell the lines apart.
    const bool many = chart_.lines[i].points.size() > 16;
    return fmt::format("$d{} using 1:2 with linespoints {} pt {} ps 0.6{}", i, stroke(look),
                       look.shape, many ? " pn 9" : "");
  }

  const Chart& chart_;
  std::vector<Look> looks_;
  std::vector<std::string> names_;
  std::vector<bool> any_;
  Axis x_, y_;
  double left_ = 0, right_ = 0, height_ = 0, column_width_ = 0;
  std::size_t legend_columns_ = 1, legend_rows_ = 0;
  std::string text_;
};

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

// Takes out everything between two words, these included.
void cut_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    const std::size_t end = text.find(to, at);
    if (end == std::string::npos) return;
    text.erase(at, end + to.size() - at);
  }
}

}  // namespace

std::string chart_script(const Chart& chart) { return Script(chart).write(); }

std::string draw(const Chart& chart) {
  std::string svg = gnuplot(chart_script(chart));
  svg.erase(0, std::min(svg.find("<svg"), svg.size()));
  // Its titles are names of plots, which a browser shows under the pointer.
  cut_all(svg, "<title>", "</title>"), cut_all(svg, "<desc>", "</desc>");
  svg.insert(std::min(svg.find('>'), svg.size() - 1) + 1,
             "<title>" + escaped(chart.title) + "</title>");
  svg.insert(std::min(svg.find("<svg") + 4, svg.size()), " role=\"img\"");
  // Several pictures share a page, and each name may be there once.
  const std::string mine = escaped(chart.name) + "-";
  replace_all(svg, " id='", " id='" + mine), replace_all(svg, " id=\"", " id=\"" + mine);
  replace_all(svg, "href='#", "href='#" + mine), replace_all(svg, "url(#", "url(#" + mine);
  replace_all(svg, "\"Helvetica:Bold\"", "\"Helvetica\" font-weight=\"bold\"");
  replace_all(svg, "font-family=\"Helvetica\"", "font-family=\"Helvetica, Arial, sans-serif\"");
  return svg;
}

}  // namespace weir::lab
