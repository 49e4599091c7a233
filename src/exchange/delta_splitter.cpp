#include "exchange/delta_splitter.hpp"

#include <algorithm>
#include <cstring>

namespace weir {
namespace {

constexpr std::size_t magic_bytes = 4;
constexpr unsigned last_short_literal = 0x40, first_literal = 0x41, first_copy = 0x45;

std::size_t width(unsigned code) { return std::size_t{1} << code; }

std::uint64_t big_endian(const std::byte* at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    number = number << 8 | std::to_integer<std::uint64_t>(at[i]);
  return number;
}

}  // namespace

void DeltaSplitter::give_copy() {
  if (copy_.length > 0) on_copy_(copy_);
  copy_ = {};
}

// Of the command whose first byte is there.
std::size_t DeltaSplitter::command_bytes() const {
  if (!begun_) return magic_bytes;
  const auto op = std::to_integer<unsigned>(head_[0]);
  if (op <= last_short_literal) return 1;
  if (op < first_copy) return 1 + width(op - first_literal);
  return 1 + width((op - first_copy) >> 2 & 3) + width((op - first_copy) & 3);
}

void DeltaSplitter::command() {
  if (!begun_) {
    begun_ = true;
    return;
  }
  const auto op = std::to_integer<unsigned>(head_[0]);
  if (op < first_copy) {
    literal_left_ = op <= last_short_literal ? op : big_endian(&head_[1], held_ - 1);
    return;
  }
  const std::size_t place = width((op - first_copy) >> 2 & 3);
  const std::uint64_t at = big_endian(&head_[1], place);
  const std::uint64_t length = big_endian(&head_[1 + place], held_ - 1 - place);
  if (copy_.length > 0 && copy_.at + copy_.length == at) {
    copy_.length += length;
    return;
  }
  give_copy();
  copy_ = {at, length};
}

void DeltaSplitter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (literal_left_ > 0) {
      give_copy();
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(literal_left_, bytes.size()));
      on_literal_(bytes.first(count));
      literal_left_ -= count;
      bytes = bytes.subspan(count);
      continue;
    }
    head_[held_++] = bytes.front();
    bytes = bytes.subspan(1);
    if (held_ < command_bytes()) continue;
    command();
    held_ = 0;
  }
}

}  // namespace weir
