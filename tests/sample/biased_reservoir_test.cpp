#include "sample/biased_reservoir.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

#include "chi_square.hpp"
#include "weir/catalog.hpp"

namespace weir {
namespace {

using test::chi_square_p;
using test::surprising;

TEST(BiasedReservoir, HoldsRecordsOfAnAgeWithProbabilityExpOfMinusAgeOverSize) {
  // The age of one slot's record is geometric with mean s - 1 in the steady state. Ages are
  // put into cells that are equally likely under exp(-a/s): cell j of 20 ends at -s ln(1 - j/20).
  constexpr std::uint64_t s = 1000, n = 20 * s;
  constexpr int runs = 4000, cells = 20;
  std::vector<double> seen(cells);
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    BiasedReservoir<std::uint64_t> sample(s, seed);
    for (std::uint64_t i = 0; i < n; ++i) sample.offer(std::uint64_t{i});
    const double age = static_cast<double>(n - 1 - sample.records()[seed % (s / 2)]) + 0.5;
    ++seen[static_cast<std::size_t>(-std::expm1(-age / s) * cells)];
  }
  double statistic = 0;
  for (const double count : seen)
    statistic += (count - 1.0 * runs / cells) * (count - 1.0 * runs / cells) / (1.0 * runs / cells);
  EXPECT_GT(chi_square_p(statistic, cells - 1), surprising);
}

TEST(BiasedReservoir, HoldsARecordOfAgeAWithProbabilityOneMinusOneOverSToTheAFromTheStart) {
  // Exact also while the slots fill: after 60 records into 40 slots, look at each age.
  constexpr std::uint64_t s = 40, n = 60;
  constexpr int runs = 50000;
  std::vector<double> held(n);
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    BiasedReservoir<std::uint64_t> sample(s, seed);
    for (std::uint64_t i = 0; i < n; ++i) EXPECT_TRUE(sample.offer(std::uint64_t{i}));
    for (const std::uint64_t record : sample.records()) ++held[n - 1 - record];
  }
  EXPECT_EQ(held[0], runs);
  for (std::uint64_t age = 1; age < n; ++age) {
    const double p = std::pow(1 - 1.0 / s, static_cast<double>(age));
    // 59 ages: four standard errors leave all of them one chance in 270 to fail by bad luck.
    EXPECT_NEAR(held[age] / runs, p, 4 * std::sqrt(p * (1 - p) / runs)) << age;
  }
}

TEST(BiasedReservoir, FillsAsPredicted) {
  // Free slots shrink by 1 - 1/s a record: s (1 - 1/s)^n are left. Each is nearly independent.
  constexpr std::uint64_t s = 100000, n = 150000;
  BiasedSlots slots(s, 1);
  for (std::uint64_t i = 0; i < n; ++i) slots.offer();
  const double free = std::pow(1 - 1.0 / s, n);
  const double share = 1 - static_cast<double>(slots.state().held) / s;
  EXPECT_NEAR(share, free, 3 * std::sqrt(free * (1 - free) / s));
}

TEST(BiasedReservoir, GoesOnFromItsStateAsIfItHadNeverStopped) {
  for (const std::uint64_t stop : {0u, 1u, 30u, 500u}) {
    BiasedReservoir<std::string> one(20, 42), first(20, 42);
    for (std::uint64_t i = 0; i < stop; ++i) {
      one.offer(std::to_string(i));
      first.offer(std::to_string(i));
    }
    BiasedReservoir<std::string> second(first.state(), first.records());
    for (std::uint64_t i = stop; i < 2000; ++i) {
      one.offer(std::to_string(i));
      second.offer(std::to_string(i));
    }
    EXPECT_EQ(second.records(), one.records());
  }
}

TEST(BiasedReservoir, TakesRecordsThatCanOnlyBeMoved) {
  BiasedReservoir<std::unique_ptr<int>> sample(4, 1);
  for (int i = 0; i < 100; ++i) sample.offer(std::make_unique<int>(i));
  EXPECT_EQ(sample.records().size(), 4u);
}

TEST(BiasedReservoir, RefusesAStateNoSamplerCanHave) {
  BiasedSlots slots(10, 1);
  for (int i = 0; i < 15; ++i) slots.offer();
  const SamplerState good = slots.state();
  EXPECT_NO_THROW(BiasedSlots{good});
  const auto refused = [&](auto forge) {
    SamplerState bad = good;
    forge(bad);
    EXPECT_THROW(BiasedSlots{bad}, Error);
  };
  refused([](SamplerState& s) { s.capacity = 0; });
  refused([](SamplerState& s) { s.held = 11; });
  refused([](SamplerState& s) { s.held = 0; });
  refused([](SamplerState& s) { s.met = s.draws = 3; });
  refused([](SamplerState& s) { s.met = s.draws = ~std::uint64_t{0}; });
  refused([](SamplerState& s) { s.draws = 3; });
  refused([](SamplerState& s) { s.weight = std::nan(""); });
  EXPECT_THROW(BiasedSlots(0, 1), Error);
}

TEST(BiasedReservoir, GivesInBatchesOfAnySizeWhatSingleOffersGive) {
  const auto single = make_sample("biased-reservoir:s=100", {.seed = 9});
  const auto batch = make_sample("biased-reservoir:s=100", {.seed = 9});
  std::vector<std::uint64_t> records(20000);
  std::iota(records.begin(), records.end(), 1);
  for (const std::uint64_t record : records) single->offer(record);
  const std::span<const std::uint64_t> all(records);
  for (std::size_t i = 0, size = 0; i < all.size(); i += size, ++size)
    batch->offer(all.subspan(i, std::min(size, all.size() - i)));
  EXPECT_EQ(batch->records(), single->records());
  EXPECT_EQ(batch->health().fill, single->health().fill);
}

TEST(BiasedReservoir, RefusesToMergeAndToBeShardedAndSaysWhy) {
  const auto a = make_sample("biased-reservoir:s=8", {.seed = 1});
  const auto b = make_sample("biased-reservoir:s=8", {.seed = 2});
  try {
    a->merge(*b);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
    EXPECT_NE(std::string(error.what()).find("age"), std::string::npos);
  }
  EXPECT_THROW(make_sample("biased-reservoir:s=8", {.shards = 2}), Error);
}

TEST(BiasedReservoir, RefusesForgedRegistersAndRecordsInUnusedSlots) {
  std::vector<std::uint64_t> memory(64);
  BiasedReservoirSample sample({64}, reinterpret_cast<std::byte*>(memory.data()), RecordRandom(1));
  const std::vector<std::uint64_t> records{1, 2, 3};
  sample.offer(records);
  EXPECT_NO_THROW(sample.verify());
  memory[63] = 1;
  EXPECT_THROW(sample.verify(), Error);
  memory[63] = 0;
  sample.registers([i = 0](std::uint64_t& value) mutable { value += i++ == 1 ? 100 : 0; });  // held
  EXPECT_THROW(sample.verify(), Error);
}

}  // namespace
}  // namespace weir
