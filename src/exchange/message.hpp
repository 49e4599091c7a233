// The contents of messages: little-endian numbers and texts, written and read in the same order.
#pragma once

#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/error.hpp"

namespace weir {

static_assert(std::endian::native == std::endian::little);

class MessageWriter {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  MessageWriter& put(T number) {
    return raw(std::as_bytes(std::span(&number, 1)));
  }
  MessageWriter& put(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    return raw(std::as_bytes(std::span(text)));
  }
  MessageWriter& raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  void clear() noexcept { bytes_.clear(); }

 private:
  std::vector<std::byte> bytes_;
};

class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
    requires std::is_arithmetic_v<T>
  T get() {
    T number;
    std::memcpy(&number, raw(sizeof number).data(), sizeof number);
    return number;
  }
  std::string_view text() {
    const auto size = get<std::uint32_t>();
    const auto bytes = raw(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::span<const std::byte> raw(std::size_t size) {
    if (size > bytes_.size()) refuse();
    const auto front = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return front;
  }
  [[nodiscard]] bool at_end() const noexcept { return bytes_.empty(); }
  // Nothing may be left over.
  void end() const {
    if (!at_end()) refuse();
  }

 private:
  [[noreturn]] static void refuse() {
    throw Error(ErrorCode::Io, "the other side sends a message of the wrong length");
  }
  std::span<const std::byte> bytes_;
};

}  // namespace weir
