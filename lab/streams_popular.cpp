// Streams whose records are drawn by the popularity of their keys, which may change.
#include <cmath>
#include <vector>

#include "stream_laws.hpp"

namespace weir::lab {
namespace {

// Each record one of the keys, independently.
struct UniformLaw {
  std::uint64_t universe;
  Draws draws;
  std::uint64_t next() noexcept { return draws.below(universe); }
};

// Key i - 1 has rank i.
struct ZipfLaw {
  std::uint64_t universe;
  ZipfRanks ranks;
  Draws draws;
  std::uint64_t next() noexcept { return ranks.next(draws) - 1; }
};

// A new key with a given probability, else one of the keys that were new last.
struct WorkingSetLaw {
  std::uint64_t keys;
  double share_new;
  Draws draws;
  std::uint64_t made = 0;
  std::uint64_t next() noexcept {
    if (draws.unit() < share_new || made == 0) return made++;
    return made - 1 - draws.below(std::min(made, keys));
  }
  [[nodiscard]] static std::uint64_t bound(std::uint64_t records) { return records; }
};

// Zipf by age: with every step of the key space a new key becomes the most popular one, and every
// other falls by a rank, until it is the last.
struct DriftLaw {
  std::uint64_t keys;
  double rate;
  ZipfRanks ranks;
  Draws draws;
  std::uint64_t records = 0;
  std::uint64_t next() noexcept {
    const auto moved = static_cast<std::uint64_t>(static_cast<double>(records++) * rate);
    return moved + keys - ranks.next(draws);
  }
  [[nodiscard]] std::uint64_t bound(std::uint64_t of) const {
    return keys + static_cast<std::uint64_t>(static_cast<double>(of) * rate) + 1;
  }
};

// Some bursts are open at a time, and take turns by chance. Each record may be the last of its
// burst; the next one then is of a key drawn uniformly.
struct BurstLaw {
  std::uint64_t universe;
  double ends;
  Draws draws;
  std::vector<std::uint64_t> open;
  std::uint64_t next() noexcept {
    std::uint64_t& burst = open[draws.below(open.size())];
    const std::uint64_t key = burst;
    if (draws.unit() < ends) burst = draws.below(universe);
    return key;
  }
};

// (e^t - 1) / t and log(1 + t) / t, also where t is 0.
double expm1_over(double t) { return std::abs(t) > 1e-8 ? std::expm1(t) / t : 1 + t / 2; }
double log1p_over(double t) { return std::abs(t) > 1e-8 ? std::log1p(t) / t : 1 - t / 2; }

}  // namespace

ZipfRanks::ZipfRanks(double n, double s)
    : n_(n),
      s_(s),
      lowest_(integral(1.5) - 1),
      highest_(integral(n + 0.5)),
      near_(2 - inverse(integral(2.5) - bar(2))) {}

// From 1 to x; with s = 1 it is log x, and near it nothing cancels.
double ZipfRanks::integral(double x) const noexcept {
  const double log = std::log(x);
  return expm1_over((1 - s_) * log) * log;
}
double ZipfRanks::inverse(double area) const noexcept {
  return std::exp(log1p_over(std::max(-1.0, area * (1 - s_))) * area);
}
double ZipfRanks::bar(double x) const noexcept { return std::exp(-s_ * std::log(x)); }

std::uint64_t ZipfRanks::next(Draws& draws) const noexcept {
  // Beyond, bar and integral differ by less than a part in 10^11, which the difference of two
  // large integrals no longer shows.
  constexpr double certain = 1e6;
  for (;;) {
    const double area = highest_ + draws.unit() * (lowest_ - highest_);  // (1)
    const double x = inverse(area);
    const double k = std::clamp(std::floor(x + 0.5), 1.0, n_);                // (2)
    if (k - x <= near_ || k > certain || area >= integral(k + 0.5) - bar(k))  // (3)
      return static_cast<std::uint64_t>(k);
  }
}

std::unique_ptr<Stream> uniform(std::uint64_t universe, std::uint64_t seed) {
  return make_of(UniformLaw{universe, Draws(mix(seed, 7))});
}

std::unique_ptr<Stream> zipf(std::uint64_t universe, double s, std::uint64_t seed) {
  return make_of(ZipfLaw{universe, {static_cast<double>(universe), s}, Draws(mix(seed, 10))});
}

std::unique_ptr<Stream> working_set(std::uint64_t keys, double share_new, std::uint64_t seed) {
  return make_of(WorkingSetLaw{keys, share_new, Draws(mix(seed, 11))});
}

std::unique_ptr<Stream> drift(std::uint64_t universe, double s, double rate, std::uint64_t seed) {
  return make_of(
      DriftLaw{universe, rate, {static_cast<double>(universe), s}, Draws(mix(seed, 12))});
}

std::unique_ptr<Stream> bursts(std::uint64_t universe, double length, std::uint64_t open,
                               std::uint64_t seed) {
  BurstLaw law{universe, 1 / length, Draws(mix(seed, 13)), {}};
  for (std::uint64_t i = 0; i < open; ++i) law.open.push_back(law.draws.below(universe));
  return make_of(std::move(law));
}

// With x = N/U the share is (1 - e^-x) / x, which falls from 1 to 0.
std::uint64_t universe_of_share(double share, std::uint64_t records) {
  double low = 1e-12, high = 2 / share;
  for (int i = 0; i < 200; ++i) {
    const double x = (low + high) / 2;
    (-std::expm1(-x) / x > share ? low : high) = x;
  }
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::llround(static_cast<double>(records) / low)));
}

}  // namespace weir::lab
