// A vector of plain data that does not set what it is about to be filled with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace weir {

template <class T>
class PlainArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T* data() noexcept { return items_.get(); }
  [[nodiscard]] const T* data() const noexcept { return items_.get(); }
  T& operator[](std::size_t i) noexcept { return items_[i]; }
  const T& operator[](std::size_t i) const noexcept { return items_[i]; }
  [[nodiscard]] const T& back() const noexcept { return items_[size_ - 1]; }
  [[nodiscard]] std::span<T> all() noexcept { return {items_.get(), size_}; }
  [[nodiscard]] std::span<const T> all() const noexcept { return {items_.get(), size_}; }

  void clear() noexcept { size_ = 0; }
  // New places hold anything; old ones keep what they hold.
  void resize(std::size_t size) {
    if (size > capacity_) {
      const std::size_t capacity = std::max(size, capacity_ * 2);
      auto grown = std::make_unique_for_overwrite<T[]>(capacity);
      std::copy_n(items_.get(), size_, grown.get());
      items_ = std::move(grown);
      capacity_ = capacity;
    }
    size_ = size;
  }
  void push_back(const T& item) {
    const T copy = item;
    resize(size_ + 1);
    items_[size_ - 1] = copy;
  }

 private:
  std::unique_ptr<T[]> items_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace weir
