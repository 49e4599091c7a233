#include "exchange/delta_commands.hpp"

#include <librsync.h>

#include <algorithm>

#include "weir/error.hpp"

namespace weir {
namespace {

[[noreturn]] void refuse(const char* why) {
  throw Error(ErrorCode::BadState, std::string("the delta is damaged: ") + why);
}

constexpr unsigned op_end = 0, last_short_literal = 0x40, first_literal = 0x41, first_copy = 0x45,
                   last_copy = 0x54;

}  // namespace

bool DeltaCommands::fill() {
  from_ = 0;
  to_ = in_(buffer_);
  return to_ > 0;
}

std::byte DeltaCommands::byte() {
  if (from_ == to_ && !fill()) refuse("it ends early");
  return buffer_[from_++];
}

std::uint64_t DeltaCommands::number(std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    value = value << 8 | std::to_integer<std::uint64_t>(byte());
  return value;
}

void DeltaCommands::begin() {
  if (number(4) != RS_DELTA_MAGIC) refuse("it does not begin as one");
}

DeltaCommands::Kind DeltaCommands::next() {
  if (literal_left_ == 0) {
    const auto op = std::to_integer<unsigned>(byte());
    if (op == op_end) {
      if (from_ < to_ || fill()) refuse("bytes follow behind its end");
      return Kind::End;
    }
    if (op > last_copy) refuse("it has an unknown command");
    if (op >= first_copy) {
      const unsigned which = op - first_copy;
      copy_.at = number(std::size_t{1} << (which >> 2));
      copy_.length = number(std::size_t{1} << (which & 3));
      return Kind::Copy;
    }
    literal_left_ = op <= last_short_literal ? op : number(std::size_t{1} << (op - first_literal));
    if (literal_left_ == 0) refuse("it has an empty command");
  }
  if (from_ == to_ && !fill()) refuse("it ends early");
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(literal_left_, to_ - from_));
  literal_ = std::span<const std::byte>(buffer_).subspan(from_, count);
  from_ += count;
  literal_left_ -= count;
  return Kind::Literal;
}

}  // namespace weir
