// The laws by which streams are made, each a small generator of one key after another, and what
// makes a Stream of one without a virtual call a key.
#pragma once

#include <algorithm>
#include <memory>

#include "core/bits.hpp"
#include "stream.hpp"

namespace weir::lab {

// A law has next(), the next key, and bound(records), 0 where there is none; and universe where
// all its keys are below a number.
template <class Law>
class Made final : public Stream {
 public:
  explicit Made(Law law) : law_(std::move(law)) {}
  std::size_t fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) override {
    for (std::uint64_t& key : keys) key = law_.next();
    std::fill(weights.begin(), weights.end(), 1);
    return keys.size();
  }
  [[nodiscard]] std::uint64_t universe() const override {
    if constexpr (requires { law_.universe; })
      return law_.universe;
    else
      return 0;
  }
  [[nodiscard]] std::uint64_t bound(std::uint64_t records) const override {
    if constexpr (requires { law_.universe; })
      return law_.universe;
    else
      return law_.bound(records);
  }

 private:
  Law law_;
};

template <class Law>
std::unique_ptr<Stream> make_of(Law law) {
  return std::make_unique<Made<Law>>(std::move(law));
}

// Ranks 1, 2, ..., n, rank i with a probability as 1/i^s, by rejection-inversion (Hoermann,
// Derflinger 1996): no table, whatever n is.
//   (1) a uniform number under the integral H of x^-s over [1/2, n + 1/2], where the part that
//       belongs to rank 1 is cut to exactly 1
//   (2) the x with that integral, rounded: rank k
//   (3) taken at once if x is so near k that it lies under the bar of k for certain, else if
//       the number is under the bar; else again, seldom: the bars nearly fill the integral
// Measured: about 15 million ranks a second; uniform keys 300 to 480 million.
class ZipfRanks {
 public:
  ZipfRanks(double n, double s);
  std::uint64_t next(Draws& draws) const noexcept;

 private:
  [[nodiscard]] double integral(double x) const noexcept;
  [[nodiscard]] double inverse(double area) const noexcept;
  [[nodiscard]] double bar(double x) const noexcept;
  double n_, s_, lowest_, highest_, near_;
};

// In the files streams_*.cpp.
std::unique_ptr<Stream> zipf(std::uint64_t universe, double s, std::uint64_t seed);
std::unique_ptr<Stream> working_set(std::uint64_t keys, double share_new, std::uint64_t seed);
std::unique_ptr<Stream> drift(std::uint64_t universe, double s, double rate, std::uint64_t seed);
std::unique_ptr<Stream> bursts(std::uint64_t universe, double length, std::uint64_t open,
                               std::uint64_t seed);
std::unique_ptr<Stream> fixed_distance(double d, double again, std::uint64_t seed);
std::unique_ptr<Stream> geometric_distances(double mean, double again, std::uint64_t seed);
std::unique_ptr<Stream> pareto_distances(double least, double shape, double again,
                                         std::uint64_t seed);

// Every key has an importance of 1 to `most`, drawn by the key itself; keys come as often as
// before, or are left out so that they come more often, or less, as their importance.
enum class Importance : std::uint8_t { Uniform, Proportional, Inverse };
std::unique_ptr<Stream> with_importance(std::unique_ptr<Stream> stream, Importance importance,
                                        std::uint32_t most, std::uint64_t seed);

}  // namespace weir::lab
