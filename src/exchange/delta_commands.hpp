// What a delta of librsync says, command by command:
//
//   72 73 02 36      magic
//   00               the end
//   01 .. 40         literal of so many bytes, which follow
//   41 42 43 44      literal; 1, 2, 4 or 8 bytes of length, then the bytes
//   45 .. 54         copy from the old file: 1, 2, 4 or 8 bytes of place, then of length;
//                    45 is 1 and 1, 46 is 1 and 2, and so on
//   55 .. ff         reserved
//
// Numbers are big-endian. It is read here, not by librsync, because every place and length has to
// be held against the sizes of the files first; what is left to do then is a read and a write.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "weir/sync.hpp"

namespace weir {

class DeltaCommands {
 public:
  explicit DeltaCommands(ReadSome in) : in_(std::move(in)), buffer_(buffer_bytes) {}

  struct Copy {
    std::uint64_t at = 0, length = 0;
  };
  enum class Kind : std::uint8_t { Literal, Copy, End };
  // Checks the magic, once.
  void begin();
  // The next command. Literals come in pieces, as they are at hand.
  Kind next();
  [[nodiscard]] const Copy& copy() const noexcept { return copy_; }
  [[nodiscard]] std::span<const std::byte> literal() const noexcept { return literal_; }

 private:
  static constexpr std::size_t buffer_bytes = 64 << 10;
  bool fill();
  std::byte byte();
  std::uint64_t number(std::size_t bytes);

  ReadSome in_;
  std::vector<std::byte> buffer_;
  std::size_t from_ = 0, to_ = 0;
  std::uint64_t literal_left_ = 0;
  Copy copy_;
  std::span<const std::byte> literal_;
};

}  // namespace weir
