#include "key/time.hpp"

#include <charconv>
#include <chrono>
#include <cmath>

namespace weir {
namespace {

constexpr std::int64_t second = 1'000'000;
constexpr double year_0 = -62'167'219'200e6, year_10000 = 253'402'300'800e6;

// Takes `digits` digits from the front; -1 if they are not there.
int take_number(std::string_view& text, std::size_t digits) noexcept {
  if (text.size() < digits) return -1;
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    number = number * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, std::string_view any) noexcept {
  if (text.empty() || any.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// Microseconds of ".25"; -1 if there is no digit.
std::int64_t take_fraction(std::string_view& text) noexcept {
  std::int64_t value = 0, unit = second / 10;
  if (text.empty() || text[0] < '0' || text[0] > '9') return -1;
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1), unit /= 10)
    value += (text[0] - '0') * unit;
  return value;
}

std::optional<std::int64_t> parse_date(std::string_view text) noexcept {
  const int year = take_number(text, 4);
  if (year < 0 || !take(text, "-")) return std::nullopt;
  const int month = take_number(text, 2);
  if (month < 0 || !take(text, "-")) return std::nullopt;
  const int day = take_number(text, 2);
  if (day < 0 || !take(text, "Tt ")) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  const int hours = take_number(text, 2);
  if (hours < 0 || hours > 23 || !take(text, ":")) return std::nullopt;
  const int minutes = take_number(text, 2);
  if (minutes < 0 || minutes > 59 || !take(text, ":")) return std::nullopt;
  const int seconds = take_number(text, 2);
  if (seconds < 0 || seconds > 60 || !date.ok()) return std::nullopt;
  std::int64_t fraction = 0;
  if (take(text, ".,") && (fraction = take_fraction(text)) < 0) return std::nullopt;
  int offset = 0;  // minutes
  if (!text.empty() && !take(text, "Zz")) {
    const bool west = text[0] == '-';
    if (!take(text, "+-")) return std::nullopt;
    const int h = take_number(text, 2);
    if (h < 0 || h > 23 || !take(text, ":")) return std::nullopt;
    const int m = take_number(text, 2);
    if (m < 0 || m > 59) return std::nullopt;
    offset = (h * 60 + m) * (west ? -1 : 1);
  }
  if (!text.empty()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (((days * 24 + hours) * 60 + minutes - offset) * 60 + seconds) * second + fraction;
}

}  // namespace

std::optional<std::int64_t> time_of(double number) noexcept {
  const double size = std::fabs(number);
  const double micros = std::floor(size < 1e11   ? number * 1e6
                                   : size < 1e14 ? number * 1e3
                                   : size < 1e17 ? number
                                                 : number / 1e3);
  if (!(micros >= year_0 && micros < year_10000)) return std::nullopt;
  return static_cast<std::int64_t>(micros);
}

std::optional<std::int64_t> time_of(std::int64_t number) noexcept {
  constexpr std::int64_t limit = 100'000'000'000'000;  // of milliseconds
  if (number < limit && number > -limit) return time_of(static_cast<double>(number));
  const bool micros = number < 1000 * limit && number > -1000 * limit;
  return micros ? number : number / 1000 - (number % 1000 < 0 ? 1 : 0);
}

std::optional<std::int64_t> parse_time(std::string_view text) noexcept {
  if (text.size() > 10 && text[4] == '-') return parse_date(text);
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(text.data(), end, whole);
      read.ec == std::errc{} && read.ptr == end)
    return time_of(whole);
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return time_of(number);
}

}  // namespace weir
