// Cells that fade: what SBF and the importance-aware filters have in common.
//
//   m cells of d bits with values 0..M. For every record, repeats too:
//   (1) Seen iff none of its K cells is 0
//   (2) P cells lose 1
//   (3) its K cells are raised, never lowered, to the value of the record's class
//
// A Policy says which value a record sets, (3), and which cells lose, (2):
//   Policy::value(shape, weight)                 1..M
//   Policy::weighted_choice                      false: P uniformly random cells, zero cells too
//                                                true: nonzero cells, likelier the lower (IBF-H)
//   Policy::info(), Policy::complete(params, request, bytes), Policy::predict(shape, stream)
//   Policy::Shape                                m, K, P, top (the value M), visit()
#pragma once

#include <bit>

#include "core/cells.hpp"
#include "core/marked_index.hpp"
#include "filter/filter_handle.hpp"

namespace weir {

inline constexpr unsigned fading_max_probes = 32, fading_max_decrements = 4096;
inline constexpr std::uint64_t fading_index_cluster = 1024;  // cells a count of IBF-H's index

template <class Policy>
class FadingCells {
 public:
  using Shape = typename Policy::Shape;
  // With uniform choice the first cells to lose are known ahead and kept.
  static constexpr unsigned losers_ahead = 24;
  struct Target {
    std::uint64_t position[fading_max_probes];
    std::uint64_t loser[Policy::weighted_choice ? 1 : losers_ahead];
    Draws draws{0};  // for what comes behind them
    unsigned value;
  };
  static constexpr std::size_t lookahead = 8;
  static constexpr unsigned trials_ahead = 24;  // of the weighted choice

  static const StructureInfo& info() noexcept { return Policy::info(); }
  static void complete(Params& params, const Request& request, std::uint64_t bytes) {
    Policy::complete(params, request, bytes);
  }
  static unsigned bits(const Shape& shape) noexcept {
    return static_cast<unsigned>(std::bit_width(shape.top));
  }
  static std::uint64_t bytes(const Shape& shape) noexcept {
    return Cells::bytes(shape.m, bits(shape)) +
           (Policy::weighted_choice ? MarkedIndex::bytes(shape.m, fading_index_cluster) : 0);
  }
  static Prediction predict(const Shape& shape, const StreamModel& stream) {
    return Policy::predict(shape, stream);
  }

  FadingCells(const Shape& shape, std::byte* memory, RecordRandom random) noexcept
      : shape_(shape),
        cells_(memory, bits(shape)),
        random_(random),
        nonzero_cells_(memory + Cells::bytes(shape.m, bits(shape)), shape.m, fading_index_cluster,
                       32, Policy::weighted_choice) {}

  void locate(Digest digest, Target& target) const noexcept {
    Draws draws(digest);
    for (unsigned i = 0; i < shape_.K; ++i) target.position[i] = draws.below(shape_.m);
  }
  void prepare(Digest digest, std::uint32_t weight, Target& target) noexcept {
    locate(digest, target);
    target.draws = random_.at(records_++);
    target.value = Policy::value(shape_, weight);
    // Asked for one by one: the draws in between leave the memory time to take the requests.
    if constexpr (!Policy::weighted_choice)
      for (unsigned i = 0; i < kept_losers(); ++i)
        cells_.prefetch(target.loser[i] = target.draws.below(shape_.m));
  }
  void prefetch(const Target& target) const noexcept {
    for (unsigned i = 0; i < shape_.K; ++i) cells_.prefetch(target.position[i]);
  }
  void prefetch_more(const Target& target) const noexcept {  // of a record to remember
    Draws draws = target.draws;
    if constexpr (!Policy::weighted_choice) {
      for (unsigned i = losers_ahead; i < shape_.P; ++i) cells_.prefetch(draws.below(shape_.m));
    } else if (!nonzero_cells_.wanted(nonzero_)) {
      for (unsigned i = 0; i < trials_ahead; ++i) cells_.prefetch(draws.below(shape_.m));
    }
  }
  [[nodiscard]] bool contains(const Target& target) const noexcept {
    bool all = true;
    for (unsigned i = 0; i < shape_.K; ++i) all &= cells_.get(target.position[i]) != 0;
    return all;
  }
  Verdict observe(const Target& target) noexcept {
    const bool seen = contains(target);  // (1)
    seen_ += seen;
    Draws draws = target.draws;  // (2)
    if constexpr (Policy::weighted_choice) {
      lower_weighted(draws);
      for (unsigned i = 0; i < shape_.K; ++i) raise(target.position[i], target.value);  // (3)
    } else {
      switch (bits(shape_)) {  // where the bits of a cell are known, a cell costs less
        case 1:
          lower_and_raise<BasicCells<1>>(draws, target);
          break;
        case 3:
          lower_and_raise<BasicCells<3>>(draws, target);
          break;
        default:
          lower_and_raise<Cells>(draws, target);
      }
    }
    return seen ? Verdict::Seen : Verdict::New;
  }

  template <class F>
  void registers(F&& f) {
    f(records_), f(seen_), f(nonzero_);
    if constexpr (Policy::weighted_choice) nonzero_cells_.registers(f);
  }
  void verify() const {
    if (cells_.count_nonzero(0, shape_.m) != nonzero_ || seen_ > records_)
      throw Error(ErrorCode::BadState, "its registers do not fit its cells");
    if (shape_.top != cells_.max())
      for (std::uint64_t i = 0; i < shape_.m; ++i)
        if (cells_.get(i) > shape_.top)
          throw Error(ErrorCode::BadState, "a cell is above its largest value");
    if constexpr (Policy::weighted_choice) nonzero_cells_.verify(marks());
  }
  void health(Health& health) const noexcept {
    health.fill = static_cast<double>(nonzero_) / static_cast<double>(shape_.m);
    health.fpr = std::pow(health.fill, shape_.K);
    health.records = records_;
    health.seen = seen_;
  }
  static constexpr const char* no_merge =
      "their cells hold how long ago keys came, each on its own clock";

 private:
  // With weighted choice, where the index follows.
  void lower(std::uint64_t cell) noexcept {
    const unsigned value = cells_.get(cell);
    cells_.set(cell, value - 1);
    if (value != 1) return;
    --nonzero_;
    nonzero_cells_.unmark(cell);
  }
  void raise(std::uint64_t cell, unsigned value) noexcept {
    const unsigned old = cells_.get(cell);
    cells_.set(cell, std::max(old, value));
    if (old != 0) return;
    ++nonzero_;
    nonzero_cells_.mark(cell, nonzero_);
  }
  [[nodiscard]] unsigned kept_losers() const noexcept { return std::min(shape_.P, losers_ahead); }

  // (2) and (3) with uniform choice. Copies stay in registers, whatever is written to memory.
  template <class KnownCells>
  void lower_and_raise(Draws draws, const Target& target) noexcept {
    KnownCells cells(cells_.memory(), bits(shape_));
    const std::uint64_t m = shape_.m;
    std::uint64_t nonzero = nonzero_;
    const unsigned P = shape_.P, K = shape_.K;
    for (unsigned i = 0; i < P; ++i) {
      const std::uint64_t cell = i < losers_ahead ? target.loser[i] : draws.below(m);
      const unsigned value = cells.get(cell);
      cells.set(cell, value - (value != 0));
      nonzero -= value == 1;
    }
    for (unsigned i = 0; i < K; ++i) {
      const unsigned old = cells.get(target.position[i]);
      cells.set(target.position[i], std::max(old, target.value));
      nonzero += old == 0;
    }
    nonzero_ = nonzero;
  }

  // P nonzero cells, one after the other, each with probability proportional to 1/value. One draw
  // serves a trial: its high bits propose a cell, its low half accepts with probability 1/value.
  void lower_weighted(Draws& draws) noexcept {
    unsigned left = shape_.P;
    const auto try_cell = [&](std::uint64_t cell, std::uint64_t luck) {
      const unsigned value = cells_.get(cell);
      if (value == 0 || (luck & 0xffffffff) * value >> 32 != 0) return;
      lower(cell);
      --left;
    };
    if (!nonzero_cells_.wanted(nonzero_)) {  // M/fill trials a cell are expected at most
      Draws ahead = draws;  // what will be drawn some trials later, to ask for the cells in time
      for (unsigned i = 0; i < trials_ahead; ++i) ahead.next();
      while (left != 0 && nonzero_ != 0) {
        cells_.prefetch(ahead.below(shape_.m));
        const std::uint64_t luck = draws.next();
        try_cell(reduce(luck, shape_.m), luck);
      }
    }
    // Where few are nonzero the index proposes some of them together. That one may have become zero
    // by an earlier trial changes nothing: it is not accepted then.
    while (left != 0 && nonzero_ != 0) {
      std::uint64_t luck[MarkedIndex::most], cell[MarkedIndex::most];
      for (unsigned i = 0; i < MarkedIndex::most; ++i) {
        luck[i] = draws.next();
        cell[i] = reduce(luck[i], nonzero_);
      }
      nonzero_cells_.find(cell, marks());
      for (unsigned i = 0; i < MarkedIndex::most && left != 0; ++i) try_cell(cell[i], luck[i]);
    }
  }

  struct Marks {
    const Cells& cells;
    [[nodiscard]] std::uint64_t count(std::uint64_t first, std::uint64_t end) const noexcept {
      return cells.count_nonzero(first, end);
    }
    void prefetch(std::uint64_t first, std::uint64_t end) const noexcept {
      cells.prefetch_all(first, end);
    }
    [[nodiscard]] std::uint64_t select(std::uint64_t first, std::uint64_t end,
                                       std::uint64_t rank) const noexcept {
      return cells.select_nonzero(first, end, rank);
    }
  };
  [[nodiscard]] Marks marks() const noexcept { return {cells_}; }

  Shape shape_;
  Cells cells_;
  RecordRandom random_;
  std::uint64_t records_ = 0, seen_ = 0, nonzero_ = 0;
  MarkedIndex nonzero_cells_;  // used by the weighted choice only
};

}  // namespace weir
