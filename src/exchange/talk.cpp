#include "exchange/talk.hpp"

#include <algorithm>
#include <cstring>

#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::uint8_t data_kind = Channel::First + 1;
constexpr std::size_t buffer_bytes = 64 << 10;

[[noreturn]] void garbage(const char* what) {
  throw Error(ErrorCode::Io, std::string("the other side sends garbage: ") + what);
}

}  // namespace

Talk::Talk(Channel& channel, int level)
    : channel_(channel), messages_(channel), incoming_(buffer_bytes) {
  outgoing_.reserve(buffer_bytes);
  if (level == 0) return;
  packing_.emplace(messages_, level);
  unpacking_.emplace([this](std::span<std::byte> some) { return receive(some); },
                     "what the other side sends");
}

void Talk::Messages::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), Channel::most_bytes);
    channel_.send(data_kind, bytes.first(count));
    bytes = bytes.subspan(count);
  }
}

void Talk::push() {
  if (packing_)
    packing_->write(outgoing_);
  else
    messages_.write(outgoing_);
  outgoing_.clear();
}

void Talk::bytes(std::span<const std::byte> some) {
  while (!some.empty()) {
    const std::size_t count = std::min(some.size(), buffer_bytes - outgoing_.size());
    outgoing_.insert(outgoing_.end(), some.begin(),
                     some.begin() + static_cast<std::ptrdiff_t>(count));
    if (outgoing_.size() == buffer_bytes) push();
    some = some.subspan(count);
  }
}

void Talk::number(std::uint64_t value) {
  std::byte coded[10];
  std::size_t count = 0;
  for (; value >= 0x80; value >>= 7) coded[count++] = std::byte(value & 0x7f) | std::byte{0x80};
  coded[count++] = std::byte(value);
  bytes(std::span(coded, count));
}

void Talk::text(std::string_view value) {
  number(value.size());
  bytes(std::as_bytes(std::span(value)));
}

void Talk::piece(std::span<const std::byte> some) {
  number(some.size());
  bytes(some);
}

void Talk::end_turn() {
  push();
  if (packing_) packing_->flush();
  channel_.flush();
}

std::size_t Talk::receive(std::span<std::byte> some) {
  while (message_.empty()) message_ = channel_.receive(data_kind);
  const std::size_t count = std::min(some.size(), message_.size());
  std::memcpy(some.data(), message_.data(), count);
  message_ = message_.subspan(count);
  return count;
}

void Talk::fill() {
  from_ = 0;
  to_ = unpacking_ ? unpacking_->read(incoming_) : receive(incoming_);
  if (to_ == 0) garbage("its stream has an end");
}

void Talk::read(std::span<std::byte> all) {
  while (!all.empty()) {
    if (from_ == to_) fill();
    const std::size_t count = std::min(all.size(), to_ - from_);
    std::memcpy(all.data(), incoming_.data() + from_, count);
    from_ += count;
    all = all.subspan(count);
  }
}

std::uint64_t Talk::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    std::byte byte;
    read(std::span(&byte, 1));
    const auto low = std::to_integer<std::uint64_t>(byte & std::byte{0x7f});
    if (shift > 63 || (shift == 63 && low > 1)) garbage("a number beyond 64 bits");
    value |= low << shift;
    if ((byte & std::byte{0x80}) == std::byte{0}) return value;
  }
}

std::string Talk::text(std::size_t most) {
  const std::uint64_t size = number();
  if (size > most) garbage("a text that is too long");
  std::string value(static_cast<std::size_t>(size), '\0');
  read(std::as_writable_bytes(std::span(value)));
  return value;
}

std::size_t Talk::read_piece(std::span<std::byte> some) {
  if (piece_left_ == 0) {
    piece_left_ = number();
    if (piece_left_ == 0) return 0;
  }
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(some.size(), piece_left_));
  read(some.first(count));
  piece_left_ -= count;
  return count;
}

}  // namespace weir
