// Sizes and numbers as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::cli {

// "4096", "64K", "1.5M", "2G", "1T": powers of 1024, either case. Throws Error(Config).
std::uint64_t parse_size(std::string_view text);
std::string write_size(std::uint64_t bytes);  // the same the other way: "64K", "1536K", "4097"
// Decimal digits and nothing else. Throws Error(Config).
std::uint64_t parse_whole(std::string_view text);

// "30s", "5min", "2h", "1d": a time; "1000000", "10K", "1.5M", "2G": records, by thousands. Exactly
// one of the two is above 0. Throws Error(Config).
struct Interval {
  double seconds = 0;
  std::uint64_t records = 0;
};
Interval parse_interval(std::string_view text);

std::string show_duration(double seconds);    // "24 h", "90 s"
std::string show_bytes(std::uint64_t bytes);  // "64.0 MiB"
std::string show_count(std::uint64_t count);  // "12,345,678"
std::string show_percent(double share);       // "0.0123 %"
std::string show_age(double seconds);         // "3 days ago"

}  // namespace weir::cli
