#include "importance_stream.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "core/bits.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

constexpr std::size_t classes = most_important;

// Chance that a record is of importance 1, 2, ...
std::array<double, classes> class_shares(Favour favour) {
  std::array<double, classes> shares{};
  double sum = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    const auto importance = static_cast<double>(c + 1);
    shares[c] = favour == Favour::None        ? 1
                : favour == Favour::Important ? importance
                                              : 1 / importance;
    sum += shares[c];
  }
  for (double& share : shares) share /= sum;
  return shares;
}

double expected_repeats(Favour favour, double universe, double records) {
  const double keys = universe / classes;  // of each importance
  double distinct = 0;
  for (const double share : class_shares(favour))
    distinct -= keys * std::expm1(records * std::log1p(-share / keys));
  return 1 - distinct / records;
}

class Drawn final : public Stream {
 public:
  Drawn(Favour favour, std::uint64_t universe, std::uint64_t seed)
      : keys_(universe / classes), draws_(mix(seed, 9)) {
    double sum = 0;
    const auto shares = class_shares(favour);
    for (std::size_t c = 0; c < classes; ++c) up_to_[c] = sum += shares[c];
    up_to_.back() = 1;
  }
  std::size_t fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto at = std::upper_bound(up_to_.begin(), up_to_.end(), draws_.unit());
      const auto c = static_cast<std::uint64_t>(at - up_to_.begin());
      keys[i] = draws_.below(keys_) * classes + c;
      if (!weights.empty()) weights[i] = static_cast<std::uint32_t>(c + 1);
    }
    return keys.size();
  }
  [[nodiscard]] std::uint64_t universe() const override { return keys_ * classes; }

 private:
  std::uint64_t keys_;
  std::array<double, classes> up_to_{};
  Draws draws_;
};

class Recorded final : public Stream {
 public:
  explicit Recorded(const Trace& trace) : trace_(trace) {}
  std::size_t fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) override {
    const std::size_t n = std::min(keys.size(), trace_.keys.size() - at_);
    for (std::size_t i = 0; i < n; ++i, ++at_) {
      keys[i] = trace_.keys[at_];
      if (!weights.empty()) weights[i] = trace_.weights.empty() ? 1 : trace_.weights[at_];
    }
    return n;
  }
  [[nodiscard]] std::uint64_t universe() const override { return trace_.distinct; }

 private:
  const Trace& trace_;
  std::size_t at_ = 0;
};

// The weight that each key came with first, ascending.
std::vector<std::uint32_t> weights_of_keys(const Trace& trace) {
  std::vector<std::uint32_t> weights;
  for (std::size_t i = 0; i < trace.keys.size(); ++i)
    if (trace.keys[i] == weights.size()) weights.push_back(trace.weights[i]);
  std::sort(weights.begin(), weights.end());
  return weights;
}

}  // namespace

std::uint64_t universe_for(Favour favour, double repeats, std::uint64_t records) {
  const auto n = static_cast<double>(records);
  double low = classes,
         high = 50 * n / repeats;  // beyond it repeats are rarer, whoever is favoured
  if (expected_repeats(favour, low, n) < repeats)
    throw Error(ErrorCode::Config, "too few records for an importance stream");
  while (high - low > 1) {
    const double middle = (low + high) / 2;
    (expected_repeats(favour, middle, n) > repeats ? low : high) = middle;
  }
  return static_cast<std::uint64_t>(high);
}

std::unique_ptr<Stream> importance_stream(Favour favour, std::uint64_t universe,
                                          std::uint64_t seed) {
  return std::make_unique<Drawn>(favour, universe, seed);
}

Trace with_importance(Trace trace, Ranking ranking) {
  const std::vector<std::uint32_t> of_keys = weights_of_keys(trace);
  if (of_keys.empty()) return trace;
  const auto count = static_cast<double>(of_keys.size());
  const double cap = std::max(1.0, static_cast<double>(of_keys[of_keys.size() * 9 / 10]));
  for (std::uint32_t& weight : trace.weights) {
    double place = std::min(weight / cap, 1.0);
    if (ranking == Ranking::Percentile) {
      // Of keys with equal weights, the middle.
      const auto [from, to] = std::equal_range(of_keys.begin(), of_keys.end(), weight);
      place = static_cast<double>((from - of_keys.begin()) + (to - of_keys.begin())) / 2 / count;
    }
    weight = std::clamp(static_cast<std::uint32_t>(std::ceil(place * most_important)), 1u,
                        most_important);
  }
  return trace;
}

std::unique_ptr<Stream> recorded(const Trace& trace) { return std::make_unique<Recorded>(trace); }

bool has_weights(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error(ErrorCode::Io, "cannot read " + path);
  std::string line;
  return std::getline(in, line) && line.find('\t') != std::string::npos;
}

}  // namespace weir::lab
