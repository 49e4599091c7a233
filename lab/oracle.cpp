#include "oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oracle_numbered.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

// Times of 32 bits are counted anew before they run over; half of them must be left then.
constexpr std::uint64_t widest_short_window = std::uint64_t{1} << 31;

bool prefers_numbers(const Stream& stream, std::uint64_t records, Window window) {
  const std::uint64_t bound = stream.bound(records);
  return bound != 0 &&
         numbered_bytes(bound, window) <= table_bytes(std::min(bound, records), window);
}

}  // namespace

void require_memory(std::uint64_t needed, std::uint64_t memory, const std::string& for_what) {
  if (memory == 0 || needed <= memory) return;
  throw Error(
      ErrorCode::NoMemory,
      fmt::format("the exact answer for {} needs {:.4g} GiB of memory, and there are {:.4g}",
                  for_what, std::ldexp(static_cast<double>(needed), -30),
                  std::ldexp(static_cast<double>(memory), -30)));
}

std::uint64_t numbered_bytes(std::uint64_t universe, Window window) {
  if (window.records == 0) return universe / 8 + 8;
  const std::uint64_t each = window.records <= widest_short_window ? 4 : 8;
  return universe > ~std::uint64_t{0} / each ? ~std::uint64_t{0} : universe * each;
}

std::unique_ptr<Oracle> numbered_oracle(std::uint64_t universe, Window window,
                                        std::uint64_t memory) {
  require_memory(numbered_bytes(universe, window), memory,
                 fmt::format("{} numbered keys", universe));
  if (window.records == 0) return std::make_unique<Numbered>(universe);
  if (window.records <= widest_short_window)
    return std::make_unique<NumberedWindow<std::uint32_t>>(universe, window);
  return std::make_unique<NumberedWindow<std::uint64_t>>(universe, window);
}

std::unique_ptr<Oracle> oracle_for(const Stream& stream, std::uint64_t records, Window window,
                                   std::uint64_t memory) {
  return prefers_numbers(stream, records, window)
             ? numbered_oracle(stream.bound(records), window, memory)
             : table_oracle(window, memory);
}

std::uint64_t oracle_bytes(const Stream& stream, std::uint64_t records, Window window) {
  const std::uint64_t bound = stream.bound(records);
  return prefers_numbers(stream, records, window)
             ? numbered_bytes(bound, window)
             : table_bytes(bound == 0 ? records : std::min(bound, records), window);
}

}  // namespace weir::lab
