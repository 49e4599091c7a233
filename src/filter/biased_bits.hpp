// Biased bits: what BSBF, BSBFSD and RLBSBF (Bera, Dutta, Narang, Bhattacherjee, 2012) share.
//
//   k Bloom filters of s = M/k bits, one bit a key in each. For every record:
//   (1) Seen iff its k bits are all set; then nothing changes
//   (2) else some filters lose one uniformly chosen bit each, whether it is 1 or 0
//   (3) and the record's k bits are set
//
// A Policy says which filters lose a bit, (2):
//   Policy::losing(draws, k)           the filters that may, known before the verdict
//   Policy::loses(draws, ones, s)      whether one of them does, it has `ones` bits set
//   Policy::losses(fill, k)            bits a filter loses a New record, on average
//   Policy::bounded_by(fill, k)        losses that yield k: losses() where they bound the fill
//   Policy::info()
//
// Predicted: plan/look_back.hpp with luck 1, since after a record its bits are always set, and
// deaths at the rate P(New) losses / s. On a stream of new keys alone a filter gains 1 - fill bits
// and loses P(New) losses fill, so its fill settles where
//   1 = losses(fill) (fill + fill^2 + ... + fill^k)                                     (*)
// Repeats only lower it: the fewer of a record's bits are 0, the more bits are lost for each that
// is gained. So fill^k of (*) bounds the FPR, and k is the smallest that keeps the wanted one.
#pragma once

#include "filter/filter_handle.hpp"

namespace weir {

inline constexpr unsigned biased_max_k = 48;

struct BiasedShape {
  std::uint64_t M = 0;
  unsigned k = 0;
  template <class V>
  void visit(V& v) {
    v.whole("M", M, 1, max_cells);
    v.whole("k", k, 1, biased_max_k);
  }
  void check() const;
  [[nodiscard]] std::uint64_t s() const noexcept { return M / k; }
};

inline constexpr ParameterInfo biased_parameters[] = {
    {"M", "bits in all, k filters of M/k bits", "from the memory"},
    {"k", "filters, and bits a key", "from the requested FPR"},
};

using BiasedLosses = double (*)(double fill, unsigned k);
// The fill of (*); 1 where nothing bounds it.
double biased_steady_fill(unsigned k, BiasedLosses losses);
// k from the FPR, M from the memory.
void complete_biased(const char* name, Params& params, const Request& request, std::uint64_t bytes,
                     BiasedLosses losses);
Prediction predict_biased(const BiasedShape& shape, const StreamModel& stream, BiasedLosses losses);

struct FilterRange {
  unsigned first, end;
};

template <class Policy>
class BiasedBits {
 public:
  using Shape = BiasedShape;
  struct Target {
    std::uint64_t position[biased_max_k];
    std::uint64_t loser[biased_max_k];  // by filter, of those in `losing`
    FilterRange losing;
    Draws draws{0};  // for the luck of the losing
  };
  static constexpr std::size_t lookahead = 8;

  static const StructureInfo& info() noexcept { return Policy::info(); }
  static void complete(Params& params, const Request& request, std::uint64_t bytes) {
    complete_biased(info().name, params, request, bytes, Policy::bounded_by);
  }
  static std::uint64_t bytes(const Shape& shape) noexcept {
    return round_up((shape.k * shape.s() + 7) / 8, line_bytes);
  }
  static Prediction predict(const Shape& shape, const StreamModel& stream) {
    return predict_biased(shape, stream, Policy::losses);
  }

  BiasedBits(const Shape& shape, std::byte* memory, RecordRandom random) noexcept
      : k_(shape.k),
        s_(shape.s()),
        words_(reinterpret_cast<std::uint64_t*>(memory)),
        random_(random) {}

  void locate(Digest digest, Target& target) const noexcept {
    Draws draws(digest);
    for (unsigned j = 0; j < k_; ++j) target.position[j] = j * s_ + draws.below(s_);
  }
  void prepare(Digest digest, std::uint32_t /*weight*/, Target& target) noexcept {
    locate(digest, target);
    target.draws = random_.at(records_++);
    target.losing = Policy::losing(target.draws, k_);
    for (unsigned j = target.losing.first; j < target.losing.end; ++j)
      target.loser[j] = j * s_ + target.draws.below(s_);
  }
  void prefetch(const Target& target) const noexcept {
    for (unsigned j = 0; j < k_; ++j) prefetch_line(&words_[target.position[j] >> 6]);
  }
  void prefetch_more(const Target& target) const noexcept {
    for (unsigned j = target.losing.first; j < target.losing.end; ++j)
      prefetch_line(&words_[target.loser[j] >> 6]);
  }
  [[nodiscard]] bool contains(const Target& target) const noexcept {
    bool all = true;
    for (unsigned j = 0; j < k_; ++j) all &= get(target.position[j]);
    return all;
  }
  Verdict observe(const Target& target) noexcept {
    if (contains(target)) {  // (1)
      ++seen_;
      return Verdict::Seen;
    }
    Draws draws = target.draws;
    for (unsigned j = target.losing.first; j < target.losing.end; ++j)  // (2)
      if (Policy::loses(draws, ones_[j], s_)) reset(j, target.loser[j]);
    for (unsigned j = 0; j < k_; ++j) set(j, target.position[j]);  // (3)
    return Verdict::New;
  }

  template <class F>
  void registers(F&& f) {
    f(records_), f(seen_);
    for (unsigned j = 0; j < k_; ++j) f(ones_[j]);
  }
  void verify() const {
    bool fits = seen_ <= records_;
    for (unsigned j = 0; j < k_; ++j) fits &= count(j * s_, (j + 1) * s_) == ones_[j];
    fits &= count(k_ * s_, round_up(k_ * s_, line_bytes * 8)) == 0;
    if (!fits) throw Error(ErrorCode::BadState, "its registers do not fit its bits");
  }
  void health(Health& health) const noexcept {
    health.fpr = 1;
    for (unsigned j = 0; j < k_; ++j) {
      const double fill = static_cast<double>(ones_[j]) / static_cast<double>(s_);
      health.fill += fill / k_;
      health.fpr *= fill;
    }
    health.records = records_;
    health.seen = seen_;
  }
  static constexpr const char* no_merge = "what each has forgotten depends on its own stream";

 private:
  [[nodiscard]] bool get(std::uint64_t i) const noexcept { return words_[i >> 6] >> (i & 63) & 1; }
  void set(unsigned j, std::uint64_t i) noexcept {
    ones_[j] += !get(i);
    words_[i >> 6] |= std::uint64_t{1} << (i & 63);
  }
  void reset(unsigned j, std::uint64_t i) noexcept {
    ones_[j] -= get(i);
    words_[i >> 6] &= ~(std::uint64_t{1} << (i & 63));
  }
  [[nodiscard]] std::uint64_t count(std::uint64_t first, std::uint64_t end) const noexcept {
    std::uint64_t n = 0;
    for (; first < end && first % 64 != 0; ++first) n += get(first);
    for (; first + 64 <= end; first += 64)
      n += static_cast<unsigned>(__builtin_popcountll(words_[first >> 6]));
    for (; first < end; ++first) n += get(first);
    return n;
  }

  unsigned k_;
  std::uint64_t s_;
  std::uint64_t* words_;
  RecordRandom random_;
  std::uint64_t records_ = 0, seen_ = 0;
  std::uint64_t ones_[biased_max_k] = {};
};

}  // namespace weir
