#include "axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weir::lab {
namespace {

constexpr double most_decades = 12;

std::string superscript(int exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(exponent))) text += digits[digit - '0'];
  return text;
}

// 12,500 and 0.25.
std::string plain(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  const std::size_t point = std::min(text.find('.'), text.size());
  for (std::size_t at = point; at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return value < 0 ? "−" + text : text;
}

void choose_unit(Axis& axis, double largest) {
  if (largest >= 1e9) {
    axis.unit = 1e9, axis.unit_name = "billions";
  } else if (largest >= 2e6) {
    axis.unit = 1e6, axis.unit_name = "millions";
  } else if (largest > 0 && largest < 1e-3) {
    const int exponent = static_cast<int>(std::floor(std::log10(largest)));
    axis.unit = std::pow(10, exponent), axis.unit_name = "in units of 10" + superscript(exponent);
  }
}

Axis linear(double low, double high, bool whole, bool round) {
  Axis axis;
  // Heights are compared with 0; along the other axis only what nearly begins there does.
  if (low > 0 && low < (round ? 0.6 : 0.08) * high) low = 0;
  if (low == high) high = low == 0 ? 1 : low + std::abs(low) / 2;
  choose_unit(axis, std::max(std::abs(low), std::abs(high)));
  low /= axis.unit, high /= axis.unit;
  const double rough = (high - low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double times : {5.0, 2.5, 2.0, 1.0})
    if (times * power >= rough * 0.8) step = times * power;
  if (whole && axis.unit == 1) step = std::max(1.0, std::ceil(step));
  // A hair's breadth, so that a value that is nearly a tick counts as one.
  const double hair = 0.01;
  auto first = static_cast<long>(std::ceil(low / step - hair));
  auto last = static_cast<long>(std::floor(high / step + hair));
  if (round) {
    first = static_cast<long>(std::floor(low / step + hair));
    last = static_cast<long>(std::ceil(high / step - hair));
  }
  const double lowest = static_cast<double>(first) * step,
               highest = static_cast<double>(last) * step;
  axis.low = round ? lowest : std::min(low, lowest);
  axis.high = round ? highest : std::max(high, highest);
  int decimals = 0;
  for (double s = step; decimals < 9 && std::abs(s - std::round(s)) > 1e-6 * s; s *= 10) ++decimals;
  for (long i = first; i <= last; ++i) {
    const double at = static_cast<double>(i) * step;
    axis.ticks.push_back({at, plain(at, decimals)});
  }
  return axis;
}

std::string log_label(int digit, int exponent, bool powers) {
  if (!powers) return plain(digit * std::pow(10, exponent), std::max(0, -exponent));
  return (digit == 1 ? "" : std::to_string(digit) + "·") + "10" + superscript(exponent);
}

Axis logarithmic(double low, double high, bool round) {
  Axis axis;
  axis.log = true;
  low = std::max(low, high * std::pow(10, -most_decades));
  const bool few = high / low < 200;
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  const auto named = [&](int digit) { return digit == 1 || (few && (digit == 2 || digit == 5)); };
  if (round || low == high) {  // to the next named tick on both sides
    double below = std::pow(10, first), above = std::pow(10, std::max(last, first + 1));
    for (int e = first; few && e <= last; ++e)
      for (const int digit : {1, 2, 5}) {
        const double at = digit * std::pow(10, e);
        if (at <= low * (1 + 1e-9)) below = at;
        if (at >= high * (1 - 1e-9)) above = std::min(above, at);
      }
    low = below, high = std::max(above, below * 2);
  }
  axis.low = low, axis.high = high;
  const bool powers = first < -3 || last > 6;
  const int every = last - first > 7 ? 2 : 1;
  for (int e = first; e <= last; ++e)
    for (int digit = 1; digit < 10; ++digit) {
      const double at = digit * std::pow(10, e);
      if (at < low * (1 - 1e-9) || at > high * (1 + 1e-9)) continue;
      if (named(digit) && (e - first) % every == 0)
        axis.ticks.push_back({at, log_label(digit, e, powers)});
      else if (every == 1 || digit == 1)
        axis.ticks.push_back({at, ""});
    }
  return axis;
}

}  // namespace

bool Axis::holds(double value) const {
  return std::isfinite(value) && (!log || value >= low * unit * (1 - 1e-9));
}

Axis axis_of(const std::vector<double>& values, bool log, bool round) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  bool whole = true;
  for (const double v : values) {
    if (!std::isfinite(v) || (log && v <= 0)) continue;
    low = std::min(low, v), high = std::max(high, v);
    whole = whole && v == std::floor(v);
  }
  if (low > high) low = log ? 0.1 : 0, high = 1;
  return log ? logarithmic(low, high, round) : linear(low, high, whole, round);
}

}  // namespace weir::lab
