#include "sizes.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "weir/error.hpp"

namespace weir::cli {

std::uint64_t parse_size(std::string_view text) {
  const auto bad = [&]() -> Error {
    return {ErrorCode::Config, fmt::format("'{}' is not a size; write bytes or a number with K, M, "
                                           "G or T, as in 64M",
                                           text)};
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || !(number >= 0)) throw bad();
  double factor = 1;
  if (rest != end) {
    const auto unit = std::string_view("KMGT").find(static_cast<char>(*rest & ~0x20));
    if (unit == std::string_view::npos || rest + 1 != end) throw bad();
    factor = std::pow(1024, static_cast<double>(unit) + 1);
  } else if (number != std::floor(number)) {
    throw bad();
  }
  if (number * factor >= 0x1p47)
    throw Error(ErrorCode::Config, fmt::format("'{}' is more than any machine has", text));
  return static_cast<std::uint64_t>(number * factor);
}

std::string write_size(std::uint64_t bytes) {
  std::size_t unit = 0;
  for (; unit < 4 && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + std::string(unit == 0 ? "" : std::string(1, "KMGT"[unit - 1]));
}

std::uint64_t parse_whole(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::result_out_of_range && rest == end)
    throw Error(ErrorCode::Config, fmt::format("'{}' is too large", text));
  if (error != std::errc{} || rest != end)
    throw Error(ErrorCode::Config, fmt::format("'{}' is not a whole number", text));
  return number;
}

Interval parse_interval(std::string_view text) {
  const auto bad = [&]() -> Error {
    return {ErrorCode::Config,
            fmt::format("'{}' is not an interval; write a time, as in 30s, 5min, 2h or 1d, or a "
                        "number of records, as in 1000000 or 5M",
                        text)};
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || !(number > 0) || number > 1e15) throw bad();
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  constexpr std::pair<std::string_view, double> times[] = {
      {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
  for (const auto& [name, seconds] : times)
    if (unit == name) return {.seconds = number * seconds};
  constexpr std::pair<std::string_view, double> counts[] = {
      {"", 1}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}};
  for (const auto& [name, factor] : counts) {
    if (unit != name) continue;
    const double records = number * factor;
    if (records != std::floor(records) || records > 1e18) break;
    return {.records = static_cast<std::uint64_t>(records)};
  }
  throw bad();
}

std::string show_duration(double seconds) {
  constexpr std::pair<double, const char*> units[] = {{86400, "days"}, {3600, "h"}, {60, "min"}};
  for (const auto& [size, name] : units)
    if (seconds >= 2 * size) return fmt::format("{:.4g} {}", seconds / size, name);
  return fmt::format("{:.4g} s", seconds);
}

std::string show_bytes(std::uint64_t bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string show_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string show_percent(double share) {
  const double percent = share * 100;
  if (percent == 0) return "0 %";
  return percent < 0.001 ? fmt::format("{:.2e} %", percent) : fmt::format("{:.3g} %", percent);
}

std::string show_age(double seconds) {
  if (seconds < 0) return "in the future (the clock differs)";
  const auto say = [](double n, const char* unit) {
    const auto whole = static_cast<std::uint64_t>(n);
    return fmt::format("{} {}{} ago", whole, unit, whole == 1 ? "" : "s");
  };
  if (seconds < 120) return say(seconds, "second");
  if (seconds < 7200) return say(seconds / 60, "minute");
  if (seconds < 172800) return say(seconds / 3600, "hour");
  return say(seconds / 86400, "day");
}

}  // namespace weir::cli
