// A2, aging Bloom filter with two active buffers (Yoon 2010): remembers a window, in two halves.
//
//   Two Bloom filters of m bits with the same k hashes, one active and one old. For a record:
//   (1) Seen iff all its bits are set in the active buffer, or all in the old one
//   (2) if it is not in the active one, set its bits there: so a key of the old one is renewed
//       (refresh=no: only when it is New)
//   (3) after g counted records the old buffer is emptied and the two swap. count=insertions counts
//       those that (2) put in, count=records every record; with g=0 they swap only by advance().
//
// Guarantee: a key is held for at least g counted records after it came last (refresh=no: after it
// was let through), and for less than 2 g. With shards each one counts its own.
// Predicted: FPR at most 1 - (1 - f)^2 with f = (1 - (1 - 1/m)^(kg))^k, less where renewed keys
// have the same bits in both buffers; in between, and FNR, from plan/a2_model.hpp. By default k and
// g have the longest window at the FPR in the memory: near 21 bits a record of the window at 1 %,
// 31 at 0.1 %. Measured (100 KiB, requested FPR 2 %, a million records of 900,000 keys): @MEASURED@
// Stops working: half of what it holds is beyond the guarantee. A window that does not fit is
// refused.
//
// The two buffers share their lines, half a line each, so a record touches k lines and not 2 k.
// Emptying takes no pause: the buffer is a slate (filter/slate.hpp), wiped as it is used and swept
// within the generation; a second swap right after the first has to sweep what is left.
#pragma once

#include "filter/filter_handle.hpp"
#include "filter/slate.hpp"

namespace weir {

class A2 {
 public:
  static constexpr unsigned max_k = 32;
  enum class Count : std::uint8_t { Records, Insertions };
  enum class Refresh : std::uint8_t { Yes, No };
  struct Shape {
    std::uint64_t m = 0;
    unsigned k = 0;
    std::uint64_t g = 0;
    Count count = Count::Insertions;
    Refresh refresh = Refresh::Yes;
    static constexpr const char* counts[] = {"records", "insertions"};
    static constexpr const char* refreshes[] = {"yes", "no"};
    template <class V>
    void visit(V& v) {
      v.whole("m", m, 1, max_cells);
      v.whole("k", k, 1, max_k);
      v.whole("g", g, 0, max_cells);
      v.choice("count", count, counts);
      v.choice("refresh", refresh, refreshes);
    }
  };
  struct Target {
    std::uint64_t* line[max_k];  // with a unit of either buffer
    std::uint8_t bit[max_k];
  };
  static constexpr std::size_t lookahead = 8;

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static std::uint64_t bytes(const Shape& shape) noexcept {
    return Buffer::units(shape.m) * line_bytes;
  }
  static Prediction predict(const Shape& shape, const StreamModel& stream);

  A2(const Shape& shape, std::byte* memory, RecordRandom random) noexcept;

  void locate(Digest digest, Target& target) const noexcept {
    Draws draws(digest);
    for (unsigned i = 0; i < k_; ++i) {
      const std::uint64_t position = draws.below(m_);
      target.line[i] = buffer(0).unit_of(position);
      target.bit[i] = static_cast<std::uint8_t>(Buffer::bit_of(position));
    }
  }
  void prepare(Digest digest, std::uint32_t /*weight*/, Target& target) noexcept {
    locate(digest, target);
  }
  void prefetch(const Target& target) const noexcept {
    for (unsigned i = 0; i < k_; ++i) prefetch_line(target.line[i]);
  }
  Verdict observe(const Target& target) noexcept;
  [[nodiscard]] bool contains(const Target& target) const noexcept {
    const Found found = find(target);
    return found.active || found.old;
  }
  void advance(std::uint32_t generations) noexcept;
  [[nodiscard]] bool contains_after(const Target& target,
                                    std::uint32_t generations) const noexcept {
    const Found found = find(target);
    return (generations < 2 && found.active) || (generations == 0 && found.old);
  }

  template <class F>
  void registers(F&& f) {
    f(records_), f(seen_), f(ones_[0]), f(ones_[1]), f(active_), f(counted_), f(mark_), f(swept_),
        f(both_);
  }
  void verify() const;
  void health(Health& health) const noexcept;
  static constexpr const char* no_merge = "each counts the generations of its own stream";

 private:
  static constexpr unsigned half = 4;  // words of a line
  using Buffer = Slate<half, 2 * half>;
  struct Found {
    bool active, old;
  };
  [[nodiscard]] Buffer buffer(std::uint64_t which) const noexcept {
    return {words_ + which * half, m_};
  }
  [[nodiscard]] Found find(const Target& target) const noexcept;
  void insert(const Target& target) noexcept;
  [[nodiscard]] std::uint64_t count_both() const noexcept;
  void swap() noexcept;

  std::uint64_t* words_;
  std::uint64_t m_, g_, pace_;
  unsigned k_;
  bool count_insertions_, refresh_;
  std::uint64_t records_ = 0, seen_ = 0;
  std::uint64_t ones_[2] = {}, both_ = 0;  // of each buffer, and set in both
  std::uint64_t active_ = 0;               // 0 or 1
  std::uint64_t counted_ = 0;              // records of this generation
  std::uint64_t mark_ = 0, swept_;         // of the active buffer
};

}  // namespace weir
