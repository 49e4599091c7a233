// Age-Partitioned Bloom filter (Shtul, Baquero, Almeida 2020): remembers a window, exactly.
//
//   k + l slices of m bits in a ring, each with a hash of its own, ordered by age. For a record:
//   (1) Seen iff k slices of consecutive ages all have its bit set
//   (2) set its bit in the k youngest slices (refresh=no: only when it is New)
//   (3) after g counted records all shift by one: the oldest slice is emptied and is the youngest.
//       count=records counts every record, count=insertions those that (2) put in; with g=0 it
//       shifts only by advance(), as for a window of time.
//
// Guarantee: a key is in slices d..d+k-1 after d shifts, so it is called Seen for at least l g
// counted records after it was put in: with refresh=yes after it came last, with refresh=no
// after it was let through. It outlives (l+1) g by luck only: up to k - 1 of its bits are still
// there after l + 1 shifts, and d - l others must match by chance; after l + k shifts all are gone.
// With shards each one counts its own records. Predicted: FPR by the paper's recursion over the
// fills (plan/apbf_model.hpp), highest at the end of a generation; on a stream from
// plan/generation_model.hpp. By default (k, l, m, g) have the longest window at the FPR in the
// memory: near 20 bits a record of the window at 1 %, 26 at 0.1 %. Measured (laws, 100 KiB, FPR 2
// %): @MEASURED@ Stops working: a window that does not fit is refused. Repeats take up room with
// refresh=yes and count=records, so on a stream of few keys the slices stay emptier than they
// might.
//
// Emptying takes no pause: the retired slice is a slate (filter/slate.hpp), wiped as it is used and
// swept within the generation; a second shift right after the first has to sweep what is left.
//
// The search. Slices of age k and more do not change within a generation. Among them it tests one
// slice, and after a miss at age j goes on at j + k: of the runs that it has not ruled out, the
// youngest ends there (the paper's jump, from young to old); about two tests a jump. The k youngest
// are tested as they are set. A batch steps eight records in turn, so that each finds its next line
// in the cache.Measured within one run on a busy machine, 72 slices in 64 MiB: 0.8 to 1.1
// microseconds a record; 1.9 to 2.7 when all slices are asked for ahead and tested without a
// branch.
#pragma once

#include "filter/filter_handle.hpp"
#include "filter/slate.hpp"

namespace weir {

class Apbf {
 public:
  static constexpr unsigned max_k = 40, max_l = 64;
  enum class Count : std::uint8_t { Records, Insertions };
  enum class Refresh : std::uint8_t { Yes, No };
  struct Shape {
    unsigned k = 0, l = 0;
    std::uint64_t m = 0, g = 0;
    Count count = Count::Records;
    Refresh refresh = Refresh::Yes;
    static constexpr const char* counts[] = {"records", "insertions"};
    static constexpr const char* refreshes[] = {"yes", "no"};
    template <class V>
    void visit(V& v) {
      v.whole("k", k, 1, max_k);
      v.whole("l", l, 1, max_l);
      v.whole("m", m, 1, max_cells);
      v.whole("g", g, 0, max_cells);
      v.choice("count", count, counts);
      v.choice("refresh", refresh, refreshes);
    }
  };
  struct Target {
    Digest digest;
    Apbf* shard;
    // The search among slices of age k and more: the bit to test, the run of ages it belongs to.
    const std::uint64_t* unit;
    unsigned bit;
    unsigned age, first, last;  // ages behind `age` up to `last` match; down to `first` they must
    unsigned front;             // slices that match from age k on
    bool searching, found;
    std::uint64_t shifts;  // at the time of the search
  };
  static constexpr std::size_t lookahead = 16, group = 8;

  static const StructureInfo& info() noexcept;
  static void complete(Params& params, const Request& request, std::uint64_t bytes);
  static std::uint64_t bytes(const Shape& shape) noexcept {
    return (shape.k + shape.l) * Slice::units(shape.m) * line_bytes;
  }
  static Prediction predict(const Shape& shape, const StreamModel& stream);

  Apbf(const Shape& shape, std::byte* memory, RecordRandom random) noexcept;

  void locate(Digest digest, Target& target) const noexcept { target.digest = digest; }
  void prepare(Digest digest, std::uint32_t /*weight*/, Target& target) noexcept {
    locate(digest, target);
    target.shard = this;
  }
  void prefetch(const Target& target) const noexcept {
    for (unsigned age = 0; age < std::min(k_ + 2, slots_); ++age)
      prefetch_line(unit_at(target.digest, age).unit);
  }
  Verdict observe(Target& target) noexcept {
    Verdict verdict;
    observe_group(&target, 1, &verdict);
    tally(verdict);
    return verdict;
  }
  // Several targets, each of any shard; the caller tallies.
  static void observe_group(Target* targets, std::size_t count, Verdict* out) noexcept;
  void tally(Verdict verdict) noexcept {
    ++records_;
    seen_ += verdict == Verdict::Seen;
  }
  [[nodiscard]] bool contains(Target target) const noexcept;
  void advance(std::uint32_t generations) noexcept;
  [[nodiscard]] bool contains_after(const Target& target, std::uint32_t generations) const noexcept;

  template <class F>
  void registers(F&& f) {
    f(records_), f(seen_), f(head_), f(counted_), f(mark_), f(swept_);
    for (unsigned s = 0; s < slots_; ++s) f(ones_[s]);
  }
  void verify() const;
  void health(Health& health) const noexcept;
  static constexpr const char* no_merge = "each counts the generations of its own stream";

 private:
  using Slice = Slate<8, 8>;
  struct Place {
    std::uint64_t* unit;
    unsigned bit;
  };
  [[nodiscard]] unsigned slot(unsigned age) const noexcept {
    const unsigned s = static_cast<unsigned>(head_) + age;
    return s < slots_ ? s : s - slots_;
  }
  [[nodiscard]] Slice slice(unsigned slot) const noexcept {
    return {words_ + slot * slice_words_, m_};
  }
  [[nodiscard]] Place unit_at(Digest digest, unsigned age) const noexcept {
    const unsigned s = slot(age);
    const std::uint64_t position = reduce(mix(digest, s), m_);
    return {slice(s).unit_of(position), Slice::bit_of(position)};
  }
  void begin(Target& target) const noexcept;
  void aim(Target& target) const noexcept;
  void step(Target& target) const noexcept;
  void search(Target& target) const noexcept;
  [[nodiscard]] unsigned young_run(Digest digest) const noexcept;
  unsigned insert(Digest digest) noexcept;
  Verdict finish(Target& target) noexcept;
  void shift() noexcept;

  std::uint64_t* words_;
  std::uint64_t m_, g_, slice_words_, pace_;
  unsigned k_, slots_;
  bool count_insertions_, refresh_;
  std::uint64_t shifts_ = 0;  // of this run, to know whether one came in between
  std::uint64_t records_ = 0, seen_ = 0;
  std::uint64_t head_ = 0;                  // the slot of age 0; older ones follow in the ring
  std::uint64_t counted_ = 0;               // records of this generation
  std::uint64_t mark_ = 0, swept_;          // of the youngest slice
  std::uint64_t ones_[max_k + max_l] = {};  // by slot
};

}  // namespace weir
