// Finds members of a line of JSON in one pass, and vouches for the whole line while it goes.
//
// Most lines are plain: nothing in them is hard to judge. This reader knows the grammar of JSON
// (RFC 8259) and accepts a line only if it is certain; whatever it does not know is left to the
// parser, which has the last word on what is valid. It builds nothing, and so takes about half of
// the parser's time.
//
//   find(line): (1) an object or array of objects, arrays, strings, numbers, true, false, null,
//                   at most 64 deep
//               (2) strings without control characters, escapes as the grammar has them
//               (3) numbers that 64 bits can hold, by their number of digits
//               (4) of several members with a name the first one counts, as for the parser
//               (5) nothing but blanks behind it
//   Not judged here: whether the bytes are UTF-8; names with escapes, where they are asked for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

class PlainJson {
 public:
  enum class Found : std::uint8_t { All, NotAll, NotPlain };

  explicit PlainJson(const std::vector<std::string>& pointers);

  // False: these pointers are the parser's. That is so without any, for more than 64, for the
  // whole document, for those with ~ and for those that may be the place in an array.
  [[nodiscard]] bool can() const noexcept { return can_; }

  // The texts of the pointers' values, into `values`, which has a place for each. The line ends
  // with a newline; 64 bytes behind that may be read.
  Found find(const char* line, std::span<std::string_view> values) const noexcept;

 private:
  using Path = std::vector<std::string>;
  std::vector<Path> paths_;
  bool can_ = false;
};

}  // namespace weir
