// A growing piece of memory whose bytes are not set before they are read into, with room behind
// the end for searches and parsers that look at whole vectors. Growing a large one moves pages
// and copies nothing, so that a record of 2 GiB needs 2 GiB.
#pragma once

#include <cstdlib>
#include <new>
#include <utility>

#include "source/byte_search.hpp"

namespace weir {

class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { std::free(bytes_); }

  [[nodiscard]] char* data() noexcept { return bytes_; }
  [[nodiscard]] const char* data() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  // At least so many bytes; what was there stays.
  void reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    void* const grown = std::realloc(bytes_, bytes + search_padding);
    if (grown == nullptr) throw std::bad_alloc();
    bytes_ = static_cast<char*>(grown);
    capacity_ = bytes;
  }
  // Gives the memory back if it is more than `bytes`.
  void shrink_to(std::size_t bytes) noexcept {
    if (capacity_ <= bytes) return;
    std::free(std::exchange(bytes_, nullptr));
    capacity_ = 0;
  }
  void swap(Buffer& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  char* bytes_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace weir
