// Space-Saving (Metwally, Agrawal, El Abbadi, ICDT 2005): the keys that came most often.
//
//   m slots, each with a key, its count and the error that count may hold. N is the sum of all
//   occurrences, f_x the truth; `min` bounds what a key that is not held can have.
//   add(x): (1) x is held: raise its count
//           (2) a slot is free: x takes it, with error 0
//           (3) else x takes the slot of a key with the least count: error = that count,
//               count = that count + times. Who was there is forgotten.
//   merge:  (4) a key held on one side only gets the other side's `min` on top, as error too
//           (5) of all keys the m with the largest counts stay
//   The paper keeps the slots sorted, in a list of lists, to find the least count. Here a hand
//   goes around the slots instead and stops at counts equal to `min`; when it has been around,
//   `min` is found again. Counts add up to N, so `min` is at most N/m and the hand goes around at
//   most N/m times, m slots each: about one step a record. Counts stand side by side for it.
//   (6) the hand, (7) a new `min`. The index is a hash table of the digests' upper halves, probed
//   in turn, in which what follows a key that leaves moves up.
//
// Guarantee: count - error <= f_x <= count for keys that are held, f_x <= min for the others, and
//   min <= N/m: a key that came more often than N/m is held. After merging the first two hold,
//   and min <= 2N/m.
// Removal: none. The occurrence may have been counted for a key that is not held any more.
// Text: of each key up to `text` bytes, for people; it plays no part in counting.
// Predicted: nothing but the bounds; on Zipf's law they leave the first ranks exact.
// Measured (m = 13,050, 1 MiB; the first 100 places): on 5,000,000 database reads of 86,466 keys 97
//   counts are exact and 46 places certain; rates and more in docs/top.md. Why a hand: 13,000
//   slots, 8 million records of 2 million keys, ns a record without prefetching, for the hand, a
//   heap and the paper's list of lists: 116, 262, 182 (all keys alike), 47, 101, 80 (Zipf 1.0), 21,
//   45, 57 (Zipf 1.2).
// Stops working: where no key stands out. With f_x below N/m for all keys, which are held is luck,
//   and the bounds say so: they reach down to nearly 0.
//
// health(): fill is the share of slots in use; fpr is 1 when all are, since `min` is then the
// answer for any key. records and seen as in spectral.hpp.
#pragma once

#include <string_view>

#include "sketch/top_handle.hpp"

namespace weir {

class SpaceSaving {
 public:
  static constexpr std::uint64_t max_text = 4096;
  struct Shape {
    std::uint64_t m = 0;
    std::uint64_t text = 0;
    template <class V>
    void visit(V& v) {
      v.whole("m", m, 2, std::uint64_t{1} << 30);  // the index always has a free place
      v.whole("text", text, 0, max_text);
    }
  };
  struct Target {
    Digest digest;
  };
  static constexpr std::size_t lookahead = 16;
  static constexpr const char* no_remove =
      "it may have been counted for a key that is not held any more";

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static std::uint64_t bytes(const Shape& shape) noexcept {
    return shape.m * bytes_a_slot(shape.text);
  }

  SpaceSaving(const Shape& shape, std::byte* memory, RecordRandom random) noexcept;

  void locate(Digest digest, Target& target) const noexcept { target.digest = digest; }
  void prefetch(const Target& target) const noexcept {
    prefetch_line(index_ + home(tag_of(target.digest)));
  }

  std::uint64_t add(const Target& target, std::uint64_t times) noexcept {
    bool entered;
    return add(target, times, entered);
  }
  // `entered`: it was not held before.
  std::uint64_t add(const Target& target, std::uint64_t times, bool& entered) noexcept;
  [[nodiscard]] std::uint64_t estimate(const Target& target) const noexcept;
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] CountError error() const noexcept { return {.surplus = static_cast<double>(min_)}; }

  void name(Digest digest, std::string_view text) noexcept;
  [[nodiscard]] std::uint64_t min() const noexcept { return min_; }
  void append_entries(std::vector<Top::Entry>& out) const;

  template <class F>
  void registers(F&& f) {
    f(held_), f(hand_), f(min_), f(total_), f(records_), f(seen_);
  }
  void verify() const;
  void health(Health& health) const noexcept;
  void merge(const SpaceSaving& other);

 private:
  struct Slot {
    Digest digest;
    std::uint64_t error;
  };
  struct Found {
    std::uint64_t at;    // place in the index: of the key, or the free one where it would stand
    std::uint64_t slot;  // m: not held
  };
  static constexpr std::uint64_t bytes_a_slot(std::uint64_t text) noexcept {
    return sizeof(std::uint64_t) + sizeof(Slot) + 2 * sizeof(std::uint64_t) +
           sizeof(std::uint16_t) + text;
  }
  // An entry of the index: the tag above, the number of the slot plus 1 below; 0 is free. A key's
  // place follows from its tag, so that moving entries up looks at no slot.
  static std::uint64_t tag_of(Digest digest) noexcept { return digest >> 32; }
  [[nodiscard]] std::uint64_t places() const noexcept { return 2 * m_; }
  [[nodiscard]] std::uint64_t home(std::uint64_t tag) const noexcept {
    return (tag * places()) >> 32;
  }
  [[nodiscard]] std::uint64_t behind(std::uint64_t at) const noexcept {
    return at + 1 == places() ? 0 : at + 1;
  }
  [[nodiscard]] Found find(Digest digest) const noexcept;
  void put(std::uint64_t at, std::uint64_t slot) noexcept;
  void take_out(std::uint64_t slot) noexcept;
  std::uint64_t least_slot() noexcept;
  void take_slot(std::uint64_t slot, Digest digest, std::uint64_t count,
                 std::uint64_t error) noexcept;
  [[nodiscard]] std::byte* text_of(std::uint64_t slot) const noexcept {
    return texts_ + slot * (sizeof(std::uint16_t) + text_);
  }

  std::uint64_t m_, text_;
  std::uint64_t* counts_;
  Slot* slots_;
  std::uint64_t* index_;
  std::byte* texts_;  // of each slot: the text's length plus 1 (0: none was given), its first bytes
  std::uint64_t held_ = 0, hand_ = 0, min_ = 0;
  std::uint64_t total_ = 0, records_ = 0, seen_ = 0;
};

}  // namespace weir
