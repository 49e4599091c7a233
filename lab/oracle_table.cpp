// The exact answer for keys of any kind: open addressing with linear probing.
//
//   256 segments by the top bits of a mix of the key, each a table of its own that grows by a
//   quarter when it is 0.8 full: so growing takes room for one segment more, not for another
//   table. Within a segment a key's place is its mix times the size: rebuilding goes through
//   memory in order.
//   With a window a slot has the time of the key's last occurrence that counts. A segment that is
//   full first loses the keys that are out of the window; it grows only if that is too little.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/bits.hpp"
#include "core/prefetch.hpp"
#include "oracle.hpp"

namespace weir::lab {
namespace {

constexpr std::size_t segments = 256, least_slots = 64, ahead = 16;

struct Plain {
  std::uint64_t key;
};
struct Timed {
  std::uint64_t key, time;
};

template <class Slot>
class Segment {
 public:
  Segment() = default;
  ~Segment() { release(); }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // The key's slot, or the empty one where it belongs.
  Slot& find(std::uint64_t place, std::uint64_t key) noexcept {
    std::uint64_t at = reduce(place, size_);
    while (slots_[at].key != key && slots_[at].key != 0) at = at + 1 == size_ ? 0 : at + 1;
    return slots_[at];
  }
  [[nodiscard]] const Slot* near(std::uint64_t place) const noexcept {
    return slots_ + reduce(place, size_);
  }
  [[nodiscard]] bool full() const noexcept { return used_ >= size_ / 5 * 4; }
  void took_one() noexcept { ++used_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return size_ * sizeof(Slot); }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::span<const Slot> all() const noexcept { return {slots_, size_}; }

  // Keeps the slots of which `stays` says so.
  template <class Stays, class Place>
  void rebuild(std::uint64_t size, Stays stays, Place place) {
    Segment other;
    other.size_ = size;
    other.slots_ = reinterpret_cast<Slot*>(allocate_block(other.bytes()));
    for (const Slot& slot : all())
      if (slot.key != 0 && stays(slot)) {
        other.find(place(slot.key), slot.key) = slot;
        ++other.used_;
      }
    std::swap(slots_, other.slots_), std::swap(size_, other.size_), std::swap(used_, other.used_);
  }

 private:
  void release() noexcept {
    if (slots_ != nullptr) free_block(reinterpret_cast<std::byte*>(slots_), bytes());
  }

  Slot* slots_ = nullptr;
  std::uint64_t size_ = 0, used_ = 0;
};

template <class Slot>
class Table final : public Oracle {
  static constexpr bool timed = sizeof(Slot) == sizeof(Timed);

 public:
  Table(Window window, std::uint64_t memory) : window_(window), memory_(memory) {
    for (auto& segment : segments_) grow(segment, least_slots);
  }

  void observe(std::span<const std::uint64_t> keys, std::span<std::uint8_t> first) override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i + ahead < keys.size()) {
        const std::uint64_t mixed = mixed_of(keys[i + ahead]);
        prefetch_line(segment_of(mixed).near(mixed << 8));
      }
      ++now_;
      first[i] = keys[i] == 0 ? answer(zero_, !std::exchange(zero_met_, true)) : look_up(keys[i]);
    }
  }
  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }

 private:
  static std::uint64_t mixed_of(std::uint64_t key) noexcept { return mix(key, 19); }
  Segment<Slot>& segment_of(std::uint64_t mixed) noexcept { return segments_[mixed >> 56]; }

  std::uint8_t look_up(std::uint64_t key) {
    const std::uint64_t mixed = mixed_of(key);
    Segment<Slot>& segment = segment_of(mixed);
    Slot* slot = &segment.find(mixed << 8, key);
    const bool is_new = slot->key == 0;
    if (is_new) {
      if (segment.full()) {
        make_room(segment);
        slot = &segment.find(mixed << 8, key);
      }
      slot->key = key;
      segment.took_one();
    }
    return answer(*slot, is_new);
  }
  std::uint8_t answer(Slot& slot, bool is_new) const noexcept {
    if constexpr (timed) {
      is_new = is_new || now_ - slot.time > window_.records;
      if (is_new || window_.renewed) slot.time = now_;
    }
    return is_new ? 1 : 0;
  }

  void make_room(Segment<Slot>& segment) {
    std::uint64_t staying = segment.size();
    if constexpr (timed)
      staying =
          static_cast<std::uint64_t>(std::count_if(segment.all().begin(), segment.all().end(),
                                                   [&](const Slot& slot) { return stays(slot); }));
    // At least a fifth of the slots is free then, so that rebuilding is paid for by many keys.
    grow(segment,
         staying <= segment.size() / 5 * 3 ? segment.size() : segment.size() + segment.size() / 4);
  }
  [[nodiscard]] bool stays(const Slot& slot) const noexcept {
    if constexpr (timed)
      return slot.key != 0 && now_ - slot.time <= window_.records;
    else
      return true;
  }
  void grow(Segment<Slot>& segment, std::uint64_t size) {
    require_memory(bytes_ + size * sizeof(Slot), memory_,
                   fmt::format("the first {} records", now_));
    bytes_ -= segment.bytes();
    segment.rebuild(
        size, [&](const Slot& slot) { return stays(slot); },
        [](std::uint64_t key) { return mixed_of(key) << 8; });
    bytes_ += segment.bytes();
  }

  Window window_;
  std::uint64_t memory_, now_ = 0, bytes_ = 0;
  std::array<Segment<Slot>, segments> segments_;
  Slot zero_{};  // a key of 0 would look like an empty slot
  bool zero_met_ = false;
};

}  // namespace

std::unique_ptr<Oracle> table_oracle(Window window, std::uint64_t memory) {
  if (window.records == 0) return std::make_unique<Table<Plain>>(window, memory);
  return std::make_unique<Table<Timed>>(window, memory);
}

// A segment has a 256th of the keys, give or take four standard deviations, and grew when 0.8 of
// it, with a window 0.6, was in use.
std::uint64_t table_bytes(std::uint64_t keys, Window window) {
  const bool timed = window.records != 0;
  const double held = static_cast<double>(timed ? std::min(keys, window.records) : keys) / segments;
  const double slots = 1.25 * (held + 4 * std::sqrt(held) + 4) / (timed ? 0.6 : 0.8);
  const double bytes = segments * std::max(slots, 1.0 * least_slots) *
                       static_cast<double>(timed ? sizeof(Timed) : sizeof(Plain));
  return bytes < 1.8e19 ? static_cast<std::uint64_t>(bytes) : ~std::uint64_t{0};
}

}  // namespace weir::lab
