// What stands around a row of CSV and is not part of it.
#pragma once

#include <string_view>

namespace weir {

inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

inline std::string_view without_mark(std::string_view row) {
  if (row.starts_with(byte_order_mark)) row.remove_prefix(byte_order_mark.size());
  return row;
}

// Rows end with CR LF or LF.
inline std::string_view without_return(std::string_view row) {
  if (row.ends_with('\r')) row.remove_suffix(1);
  return row;
}

}  // namespace weir
