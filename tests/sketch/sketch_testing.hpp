// What the tests of the sketches share: a stream with a known answer, and small helpers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/bits.hpp"
#include "weir/catalog.hpp"

namespace weir::test {

// Keys drawn by Zipf's law, and how often each came.
struct ZipfStream {
  std::vector<Digest> keys;           // of rank 1, 2, ...
  std::vector<std::uint64_t> counts;  // how often each came
  std::vector<std::size_t> ranks;     // the stream itself, as indices into keys

  // Rank r comes with probability proportional to r^-exponent.
  ZipfStream(std::size_t universe, double exponent, std::size_t records, std::uint64_t seed)
      : keys(universe), counts(universe), ranks(records) {
    Draws draws(mix(seed, 1));
    std::vector<double> upto(universe);
    double sum = 0;
    for (std::size_t i = 0; i < universe; ++i)
      upto[i] = sum += std::pow(static_cast<double>(i + 1), -exponent);
    for (Digest& key : keys) key = draws.next();
    for (std::size_t& rank : ranks) {
      const auto it = std::upper_bound(upto.begin(), upto.end(), draws.unit() * sum);
      rank = std::min(static_cast<std::size_t>(it - upto.begin()), universe - 1);
      ++counts[rank];
    }
  }

  [[nodiscard]] std::vector<Digest> digests() const {
    std::vector<Digest> all(ranks.size());
    std::transform(ranks.begin(), ranks.end(), all.begin(), [&](std::size_t r) { return keys[r]; });
    return all;
  }
  [[nodiscard]] std::size_t distinct() const {
    return static_cast<std::size_t>(
        std::count_if(counts.begin(), counts.end(), [](std::uint64_t f) { return f > 0; }));
  }
};

// Mean of independent measurements, and its standard error.
struct Mean {
  double value = 0, error = 0;
  explicit Mean(const std::vector<double>& x) {
    const auto n = static_cast<double>(x.size());
    for (const double v : x) value += v / n;
    for (const double v : x) error += (v - value) * (v - value);
    error = std::sqrt(error / (n * (n - 1)));
  }
};

inline void add_all(Sketch& sketch, const ZipfStream& stream) { sketch.add(stream.digests(), {}); }

inline std::vector<std::byte> cells(const Sketch& sketch) {
  return {sketch.payload().begin(), sketch.payload().end()};
}

// The call throws an Error of this code whose sentence holds `reason`.
template <class Call>
void expect_refusal(ErrorCode code, const std::string& reason, Call call) {
  try {
    call();
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

}  // namespace weir::test
