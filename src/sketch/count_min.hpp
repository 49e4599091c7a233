// Count-Min sketch (Cormode, Muthukrishnan, J. Algorithms 2005): counts in d rows, with an
// error that is a share of the whole stream.
//
//   d rows of w counters of `bits` bits, one probe a row. Give w and d, or epsilon and delta:
//   w = ceil(e / epsilon), d = ceil(ln(1 / delta)). N is the sum of all counts, f_x the truth.
//   estimate: (1) the least of x's d counters
//   update=plain          add: (2) raise x's counter in every row;  remove: (3) lower them
//   update=conservative   add: (4) raise only the counters below estimate + times, to it
//                              (Estan, Varghese 2002)
//
// Guarantee: f_x <= estimate, below saturation (see counters.hpp), and
//   estimate <= f_x + epsilon N with probability at least 1 - delta for each x. Plain keeps
//   both after removals of what was added. Conservative is never above plain.
// Removal: conservative refuses. A counter not raised for x, because another key held it up,
//   would be lowered for x and fall below that other key's count.
// Merge: plain adds counters and equals the sketch of the joined stream, bit for bit.
//   Conservative adds too: every counter stays at or above f_x + g_x and at or below plain's,
//   so that both bounds hold, but estimates may lie above those of one sketch over both streams.
// Weighted sum: of plain ones the sketch of the streams, each repeated as often as its weight says;
//   a weight below 0 takes a stream out that is in the others. Conservative refuses.
// Predicted: the expected surplus in one row is (N - f_x) / w; a key never added has an
//   estimate above 0 with the product of the rows' fills.
// Measured (epsilon = 0.001, delta = 0.01, 1,000,000 records by Zipf's law with exponent 1.1,
//   100,000 keys): no key above the bound of 1000; the surplus is 61 on average and 431 at most
//   with plain updates, 34 and 262 with conservative ones.
// Stops working: the error grows with N, so rare keys drown in a long stream; with fewer
//   distinct keys than counters spectral is the better choice, since its error is a matter of keys.
//
// health(): as in spectral.hpp.
#pragma once

#include "sketch/counters.hpp"
#include "sketch/sketch_handle.hpp"

namespace weir {

class CountMin {
 public:
  static constexpr unsigned max_d = 32;
  enum class Update : std::uint8_t { Plain, Conservative };
  static constexpr const char* update_names[] = {"plain", "conservative"};
  // epsilon and delta are two ways to say w and d; the shape keeps what they came to.
  struct Shape {
    std::uint64_t w = 0;
    unsigned d = 0;
    Update update = Update::Plain;
    Width bits = Width::Bits32;
    template <class V>
    void visit(V& v) {
      v.whole("w", w, 1, max_cells);
      v.whole("d", d, 1, max_d);
      v.choice("update", update, update_names);
      v.choice("bits", bits, width_names);
    }
  };
  struct Target {
    std::uint64_t position[max_d];
  };
  static constexpr std::size_t lookahead = 8;

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static std::uint64_t bytes(const Shape& shape) noexcept {
    return shape.w * shape.d * width_bytes(shape.bits);
  }

  CountMin(const Shape& shape, std::byte* memory, RecordRandom random) noexcept;

  void locate(Digest digest, Target& target) const noexcept {
    Draws draws(digest);
    for (unsigned row = 0; row < d_; ++row) target.position[row] = row * w_ + draws.below(w_);
  }
  void prefetch(const Target& target) const noexcept {
    for (unsigned row = 0; row < d_; ++row) rows_.prefetch(target.position[row]);
  }

  std::uint64_t add(const Target& target, std::uint64_t times) noexcept;
  [[nodiscard]] std::uint64_t estimate(const Target& target) const noexcept {
    return rows_.minimum(target.position, d_);  // (1)
  }
  void remove(const Target& target, std::uint64_t times);
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] CountError error() const noexcept;

  template <class F>
  void registers(F&& f) {
    for (unsigned row = 0; row < d_; ++row) f(nonzero_[row]);
    f(total_), f(records_), f(seen_);
  }
  void verify() const;
  void health(Health& health) const noexcept;
  void merge(const CountMin& other) noexcept;
  using Parts = std::span<const CountMin* const>;
  using Weights = std::span<const std::int64_t>;
  [[nodiscard]] bool sum_fits(Parts parts, Weights weights) const;
  void set_sum(Parts parts, Weights weights);

 private:
  [[nodiscard]] std::uint64_t nonzero_in(unsigned row) const noexcept {
    return rows_.nonzero(row * w_, (row + 1) * w_);
  }

  Counters rows_;
  std::uint64_t w_;
  unsigned d_;
  Update update_;
  std::uint64_t nonzero_[max_d] = {};  // counters of a row that are not zero
  std::uint64_t total_ = 0, records_ = 0, seen_ = 0;
};

}  // namespace weir
