// The time of a record, as it is written in a field.
//
//   2026-11-16T03:26:07.25+01:00   RFC 3339; a space or `t` for the T, `z` for Z; any fraction.
//                                  Without an offset it is taken as UTC.
//   1794795967, 1794795967.25      since 1970, in seconds below 1e11 (the year 5138), in
//                                  milliseconds below 1e14, in microseconds below 1e17, and in
//                                  nanoseconds from there on
//
// From the year 0 to 9999. A leap second is the second behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir {

// Microseconds since 1970, UTC; further digits are cut off. Nothing when it cannot be read.
std::optional<std::int64_t> parse_time(std::string_view text) noexcept;
std::optional<std::int64_t> time_of(double number) noexcept;
std::optional<std::int64_t> time_of(std::int64_t number) noexcept;  // to the last digit

}  // namespace weir
