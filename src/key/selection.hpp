// Which fields make a key: "2,4-5", "3-", "-2".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace weir {

struct FieldRange {
  static constexpr std::uint64_t open_end = ~std::uint64_t{0};
  std::uint64_t first, last;  // from 0, both included; open_end: as many as there are
  std::uint64_t needed;       // a record without this field has no key
};

// In ascending order, without overlaps. Throws Error(Config).
std::vector<FieldRange> parse_fields(std::string_view list);

}  // namespace weir
