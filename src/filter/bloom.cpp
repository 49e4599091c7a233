#include "filter/bloom.hpp"

#include <bit>

#include "core/catalog.hpp"
#include "plan/bloom_sizing.hpp"
#include "plan/uniform.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"m", "bits", "from the memory, or from the keys and the FPR"},
    {"k", "probes a key", "ln 2 * m/n, or log2(1/FPR) when the keys are unknown"},
};

// q of m = q * 2^a. Where m has a long odd part nothing can be folded, and q is m.
std::uint64_t odd_part(std::uint64_t m) { return m >> std::countr_zero(m); }

}  // namespace

constinit const StructureEntry structure_bloom = entry<Bloom, FilterHandle>({
    .name = "bloom",
    .kind = Kind::Filter,
    .purpose = "seen before? for a known number of keys; union and halving",
    .guarantee = "no false negatives; FPR grows with the keys",
    .paper = "Bloom 1970",
    .parameters = parameters,
});
const StructureInfo& Bloom::info() noexcept { return structure_bloom; }

void Bloom::complete(Params& params, const Request& request, std::uint64_t bytes) {
  // Rounded to q * 2^a with q < 2^11: at most 0.1 % off, and it can be halved often.
  const auto foldable = [](std::uint64_t m, bool up) {
    const int low_bits = std::max(static_cast<int>(std::bit_width(m)) - 11, 6);
    return up ? round_up(m, std::uint64_t{1} << low_bits) : m >> low_bits << low_bits;
  };
  if (bytes != 0) {
    params.fill("m", foldable(bytes * 8, false));
  } else if (request.keys != 0) {
    const double keys = static_cast<double>(request.keys) / request.shards;
    const double bits = std::max(bloom_size(keys, request.fpr), 64.0);
    params.fill("m", foldable(static_cast<std::uint64_t>(bits), true));
  }
  complete_bloom(params, request, "bloom", max_k);
}

Bloom::Bloom(const Shape& shape, std::byte* memory, RecordRandom) noexcept
    : words_(reinterpret_cast<std::uint64_t*>(memory)),
      m_(shape.m),
      q_(odd_part(shape.m)),
      low_mask_(shape.m / q_ - 1),
      k_(shape.k) {}

Prediction Bloom::predict(const Shape& shape, const StreamModel& stream) {
  return predict_bloom(static_cast<double>(shape.m), shape.k, stream);
}

void Bloom::verify() const {
  std::uint64_t ones = 0;
  for (std::uint64_t i = 0; i < word_count(); ++i)
    ones += static_cast<unsigned>(std::popcount(words_[i]));
  const bool spill = m_ % 64 != 0 && words_[m_ / 64] >> (m_ % 64) != 0;
  if (ones != ones_ || spill || seen_ > records_)
    throw Error(ErrorCode::BadState, "the counters do not fit the bits");
}

void Bloom::health(Health& health) const noexcept {
  health.fill = static_cast<double>(ones_) / static_cast<double>(m_);
  health.fpr = std::pow(health.fill, k_);
  health.records = records_;
  health.seen = seen_;
}

void Bloom::merge(const Bloom& other) noexcept {
  ones_ = 0;
  for (std::uint64_t i = 0; i < word_count(); ++i) {
    words_[i] |= other.words_[i];
    ones_ += static_cast<unsigned>(std::popcount(words_[i]));
  }
  records_ += other.records_;
  seen_ += other.seen_;
}

// The n at which the expected share of ones is the one seen.
double Bloom::keys_for(std::uint64_t ones) const noexcept {
  const auto m = static_cast<double>(m_);
  const double zeros = std::max(m - static_cast<double>(ones), 0.5);  // a full filter: at least
  return std::log(zeros / m) / (k_ * std::log1p(-1 / m));
}
double Bloom::estimate_keys() const noexcept { return keys_for(ones_); }

double Bloom::estimate_union(const Bloom& other) const noexcept {
  std::uint64_t ones = 0;
  for (std::uint64_t i = 0; i < word_count(); ++i)
    ones += static_cast<unsigned>(std::popcount(words_[i] | other.words_[i]));
  return keys_for(ones);
}

Bloom::Shape Bloom::halved(const Shape& shape) {
  if (shape.m % 128 != 0)
    throw Error(ErrorCode::Unsupported,
                "a bloom filter of " + std::to_string(shape.m) +
                    " bits cannot be halved: its size is not a multiple of 128 bits");
  return {shape.m / 2, shape.k};
}

void Bloom::fold_from(const Bloom& twice) noexcept {
  ones_ = 0;
  const std::uint64_t half = word_count();
  for (std::uint64_t i = 0; i < half; ++i) {
    words_[i] = twice.words_[i] | twice.words_[i + half];
    ones_ += static_cast<unsigned>(std::popcount(words_[i]));
  }
  records_ = twice.records_;
  seen_ = twice.seen_;
}

}  // namespace weir
