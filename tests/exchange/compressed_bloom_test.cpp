// The coded filter is the filter, its size and rate are what the formulas say, and for the same
// bytes it is better than the plain one.
#include "weir/compressed_bloom.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "core/bits.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

class Bytes final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override {
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> all;
};

std::vector<std::byte> coded(const Filter& filter) {
  Bytes bytes;
  encode_bloom(filter, bytes);
  return bytes.all;
}
FilterPtr decoded(const CompressedBloom& shape, std::span<const std::byte> bytes) {
  FilterPtr filter = make_bloom(shape);
  SpanSource source(bytes);
  decode_bloom(*filter, source);
  return filter;
}
FilterPtr filled(const CompressedBloom& shape, std::uint64_t keys, std::uint64_t seed = 1) {
  FilterPtr filter = make_bloom(shape);
  for (std::uint64_t i = 0; i < keys; ++i) filter->observe(mix(i, seed));
  return filter;
}
bool same_bits(const Filter& a, const Filter& b) {
  const auto one = a.payload(), two = b.payload();
  return std::equal(one.begin(), one.end(), two.begin(), two.end());
}

TEST(CompressedBloom, ComesBackBitForBit) {
  for (const std::uint64_t m : {64, 65, 100, 1000, 4096, 100'003, 5'000'000})
    for (const std::uint32_t k : {1, 2, 7})
      for (const std::uint64_t keys : {0, 1, 10, 1000, 20'000}) {
        const CompressedBloom shape{.m = m, .k = k};
        const FilterPtr filter = filled(shape, keys);
        const FilterPtr back = decoded(shape, coded(*filter));
        ASSERT_TRUE(same_bits(*filter, *back)) << m << " " << k << " " << keys;
        EXPECT_EQ(filter->health().fill, back->health().fill);
      }
}

TEST(CompressedBloom, SizeAndRateAreThePredictedOnes) {
  constexpr double keys = 50'000, asked = 400'000;
  for (const double bits : {6.0, 8.0, 12.0, 16.0})
    for (const std::uint64_t memory : {100'000u, 400'000u, 64u << 20}) {
      const CompressedBloom shape = best_compressed_bloom(keys, bits * keys / 8, memory);
      EXPECT_LE(shape.m, memory * 8);
      EXPECT_LE(shape.wire_bytes, bits * keys / 8);
      const FilterPtr filter = filled(shape, static_cast<std::uint64_t>(keys));
      const auto bytes = static_cast<double>(coded(*filter).size());
      // The number of set bits varies, by less than Poisson's root; each costs bits/k at most.
      const double error = std::sqrt(keys * shape.k) * bits / shape.k / 8;
      EXPECT_NEAR(bytes, shape.wire_bytes, 3 * error + 1) << bits << " " << memory;
      double seen = 0;
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(asked); ++i)
        seen += filter->contains(mix(i, 999));
      const double expected = asked * shape.fpr;
      // The sample's own error, and that of the fill, which counts k times in the rate.
      EXPECT_NEAR(seen, expected, 3 * std::sqrt(expected + std::pow(expected, 2) * shape.k / keys))
          << bits << " " << memory;
    }
}

TEST(CompressedBloom, ForTheSameBytesBetterThanThePlainOne) {
  for (const double bits : {6.0, 8.0, 10.0, 16.0}) {
    const double plain = std::pow(0.6185, bits);
    EXPECT_LT(best_compressed_bloom(1e6, bits * 1e6 / 8, 1 << 30).fpr, plain) << bits;
  }
  // Without room for a larger array it is the plain one: the same k, the same rate.
  const CompressedBloom plain = best_compressed_bloom(1e6, 1e6 + 16, 1'000'000);
  EXPECT_NEAR(plain.fpr, std::pow(0.6185, 8), 1e-3);
}

TEST(CompressedBloom, RefusesWhatItDidNotWrite) {
  const CompressedBloom shape{.m = 4096, .k = 2};
  const FilterPtr filter = filled(shape, 100);
  const std::vector<std::byte> good = coded(*filter);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < good.size() * 8; ++i) {
    std::vector<std::byte> bad = good;
    bad[i / 8] ^= std::byte{1} << (i % 8);
    try {
      // What is no damage but another filter is taken, and is a whole filter then.
      EXPECT_LE(decoded(shape, bad)->health().fill, 1);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::BadState);
      ++refused;
    }
  }
  EXPECT_GT(refused, 64u);
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW(decoded(shape, std::span(good).first(size)), Error) << size;
  std::vector<std::byte> longer = good;
  longer.push_back({});
  EXPECT_THROW(decoded(shape, longer), Error);
  EXPECT_THROW(encode_bloom(*make_filter("stable", {.memory = 65536}), *std::make_unique<Bytes>()),
               Error);
  EXPECT_THROW(best_compressed_bloom(1e9, 10, 1 << 20), Error);
}

RC_GTEST_PROP(CompressedBloom, NoBytesDoHarm, (std::vector<std::uint8_t> bytes)) {
  try {
    decoded({.m = 1000, .k = 1}, std::as_bytes(std::span(bytes)));
  } catch (const Error& error) {
    RC_ASSERT(error.code() == ErrorCode::BadState);
  }
}

}  // namespace
}  // namespace weir
