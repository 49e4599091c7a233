#include "sample/reservoir.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "chi_square.hpp"
#include "weir/catalog.hpp"

namespace weir {
namespace {

using test::chi_square_p;
using test::surprising;

// p-value of "every set of s of n records is held with the same probability", from how often
// each record was held in `runs` runs. Counts of sampling without replacement have variance
// p(1-p) a run and sum up to s, which leaves n - 1 degrees of freedom.
double uniform_p(const std::vector<double>& held, double s, double runs) {
  const auto n = static_cast<double>(held.size());
  const double p = s / n;
  double statistic = 0;
  for (const double count : held) statistic += (count - runs * p) * (count - runs * p);
  return chi_square_p(statistic / (runs * p * (1 - p) * n / (n - 1)), n - 1);
}

TEST(ChiSquare, AgreesWithTheTables) {
  EXPECT_NEAR(chi_square_p(3.841459, 1), 0.05, 1e-6);
  EXPECT_NEAR(chi_square_p(29.588298, 10), 0.001, 1e-8);
  EXPECT_NEAR(chi_square_p(99.334129, 100), 0.5, 1e-6);
}

TEST(Reservoir, HoldsEveryRecordWithTheSameProbability) {
  for (const auto& [s, n] : {std::pair{1u, 20u}, {10u, 100u}, {30u, 40u}, {7u, 1000u}}) {
    constexpr int runs = 20000;
    std::vector<double> held(n);
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      Reservoir<unsigned> sample(s, seed);
      for (unsigned record = 0; record < n; ++record) sample.offer(record);
      for (const unsigned record : sample.records()) ++held[record];
    }
    EXPECT_GT(uniform_p(held, s, runs), surprising) << s << " of " << n;
  }
}

// p-value of "all 56 sets of 3 of 8 records are equally likely"; run(seed) gives the sample.
template <class Run>
double every_set_p(Run run) {
  constexpr int runs = 56000;
  std::array<double, 256> sets{};
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    unsigned set = 0;
    for (const unsigned record : run(seed)) set |= 1u << record;
    ++sets[set];
  }
  double statistic = 0;
  for (unsigned set = 0; set < 256; ++set)
    if (std::popcount(set) == 3) statistic += (sets[set] - 1000) * (sets[set] - 1000) / 1000;
  return chi_square_p(statistic, 55);
}

TEST(Reservoir, HoldsEverySetOfRecordsWithTheSameProbability) {
  const double p = every_set_p([](std::uint64_t seed) {
    Reservoir<unsigned> sample(3, seed);
    for (unsigned record = 0; record < 8; ++record) sample.offer(record);
    return sample.records();
  });
  EXPECT_GT(p, surprising);
}

TEST(Reservoir, MergedHoldsEverySetOfRecordsWithTheSameProbability) {
  for (const unsigned first : {2u, 4u, 5u}) {
    const double p = every_set_p([first](std::uint64_t seed) {
      Reservoir<unsigned> left(3, 2 * seed), right(3, 2 * seed + 1);
      for (unsigned record = 0; record < 7; ++record) (record < first ? left : right).offer(record);
      left.merge(std::move(right));
      left.offer(7u);
      return left.records();
    });
    EXPECT_GT(p, surprising) << first;
  }
}

TEST(Reservoir, HoldsAllRecordsOfAShortStreamInOrder) {
  Reservoir<int> sample(5, 1);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(sample.offer(i));
  EXPECT_EQ(sample.records(), (std::vector<int>{0, 1, 2, 3}));
}

TEST(Reservoir, DrawsForTheRecordsItTakesOnly) {
  // Record i is taken with probability s/i, independently: mean s (H_n - H_s), and 3 draws each.
  constexpr std::uint64_t s = 50, n = 1000000;
  constexpr int runs = 20;
  double mean = 0, variance = 0, taken = 0;
  for (std::uint64_t i = s + 1; i <= n; ++i) {
    const double p = static_cast<double>(s) / static_cast<double>(i);
    mean += p;
    variance += p * (1 - p);
  }
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    ReservoirSlots slots(s, seed);
    for (std::uint64_t i = 0; i < n; ++i) slots.offer();
    taken += static_cast<double>(slots.state().draws - 2) / 3;
  }
  EXPECT_NEAR(taken / runs, mean, 3 * std::sqrt(variance / runs));
  EXPECT_NEAR(mean, s * std::log(1.0 * n / s), 0.5);  // H_n - H_s > ln(n/s) - 1/(2s)
}

TEST(Reservoir, ChoosesTheSameByLeapsAsByOffers) {
  ReservoirSlots walker(20, 5), leaper(20, 5);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> walked, leapt;
  constexpr std::uint64_t n = 200000;
  for (std::uint64_t i = 0; i < n; ++i)
    if (const auto slot = walker.offer()) walked.emplace_back(i, *slot);
  while (leaper.state().met < n) {
    leaper.skip(std::min(leaper.certain_misses(), n - leaper.state().met));
    const std::uint64_t at = leaper.state().met;
    if (at == n) break;
    const auto slot = leaper.offer();
    ASSERT_TRUE(slot.has_value());
    leapt.emplace_back(at, *slot);
  }
  EXPECT_EQ(leapt, walked);
}

TEST(Reservoir, StaysSaneTowardsTheEndOfTheNumbers) {
  for (const std::uint64_t s : {std::uint64_t{1}, std::uint64_t{1000}}) {
    ReservoirSlots slots(s, 3);
    while (slots.state().met != ~std::uint64_t{0}) {
      slots.skip(~std::uint64_t{0});
      const auto slot = slots.offer();
      EXPECT_LT(slot.value_or(0), s);
      const SamplerState& state = slots.state();
      ASSERT_NO_THROW(ReservoirSlots{state});
    }
    EXPECT_LT(slots.state().draws, 3 * 60 * s + 100);  // s ln(2^64 / s) takes: 44 s at most
    EXPECT_FALSE(slots.offer().has_value());
    EXPECT_EQ(slots.state().met, ~std::uint64_t{0});
  }
}

TEST(Reservoir, HoldsEveryRecordOfALongStreamWithTheSameProbability) {
  // 2^40 records, met by leaps; where do the 10 held ones come from?
  constexpr std::uint64_t n = std::uint64_t{1} << 40;
  constexpr int runs = 2000, parts = 64, s = 10;
  std::vector<double> held(parts);
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    Reservoir<std::uint64_t> sample(s, seed);
    while (sample.state().met < n) {
      sample.skip(std::min(sample.certain_misses(), n - sample.state().met));
      if (sample.state().met < n) sample.offer(std::uint64_t{sample.state().met});
    }
    for (const std::uint64_t record : sample.records()) ++held[record / (n / parts)];
  }
  double statistic = 0;
  constexpr double expected = 1.0 * runs * s / parts;  // n is large: nearly with replacement
  for (const double count : held) statistic += (count - expected) * (count - expected) / expected;
  EXPECT_GT(chi_square_p(statistic, parts - 1), surprising);
}

TEST(Reservoir, GoesOnFromItsStateAsIfItHadNeverStopped) {
  for (const std::uint64_t stop : {0u, 3u, 10u, 11u, 500u}) {
    Reservoir<std::string> one(10, 42), first(10, 42);
    for (std::uint64_t i = 0; i < stop; ++i) {
      one.offer(std::to_string(i));
      first.offer(std::to_string(i));
    }
    Reservoir<std::string> second(first.state(), first.records());
    for (std::uint64_t i = stop; i < 5000; ++i) {
      const bool taken = one.offer(std::to_string(i));
      ASSERT_EQ(second.offer(std::to_string(i)), taken);
    }
    EXPECT_EQ(second.records(), one.records());
  }
}

TEST(Reservoir, TakesRecordsThatCanOnlyBeMoved) {
  Reservoir<std::unique_ptr<int>> sample(4, 1);
  for (int i = 0; i < 100; ++i) sample.offer(std::make_unique<int>(i));
  const SamplerState state = sample.state();
  Reservoir<std::unique_ptr<int>> restored(state, std::move(sample).take());
  for (int i = 100; i < 1000; ++i) restored.offer(std::make_unique<int>(i));
  for (const auto& record : restored.records()) EXPECT_NE(record, nullptr);
  EXPECT_EQ(restored.records().size(), 4u);
}

TEST(Reservoir, RefusesAStateNoReservoirCanHave) {
  ReservoirSlots slots(10, 1);
  for (int i = 0; i < 100; ++i) slots.offer();
  const SamplerState good = slots.state();
  EXPECT_NO_THROW(ReservoirSlots{good});
  const auto refused = [&](auto forge) {
    SamplerState bad = good;
    forge(bad);
    EXPECT_THROW(ReservoirSlots{bad}, Error);
  };
  refused([](SamplerState& s) { s.capacity = 0; });
  refused([](SamplerState& s) { s.held = 11; });
  refused([](SamplerState& s) { s.held = 9; });
  refused([](SamplerState& s) { s.next = s.met - 1; });
  refused([](SamplerState& s) { s.weight = 0; });
  refused([](SamplerState& s) { s.weight = 1.5; });
  refused([](SamplerState& s) { s.weight = std::nan(""); });
  EXPECT_THROW(ReservoirSlots(0, 1), Error);
  EXPECT_THROW((Reservoir<int>(good, std::vector<int>(9))), Error);
}

TEST(Reservoir, MergedHoldsEveryRecordOfBothStreamsWithTheSameProbability) {
  constexpr int runs = 20000;
  for (const auto& [a, b, more] :
       {std::tuple{30u, 70u, 0u}, {5u, 60u, 0u}, {4u, 5u, 40u}, {50u, 50u, 100u}, {0u, 40u, 10u}}) {
    constexpr unsigned s = 10;
    const unsigned n = a + b + more;
    std::vector<double> held(n);
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      Reservoir<unsigned> left(s, 2 * seed), right(s, 2 * seed + 1);
      for (unsigned record = 0; record < a; ++record) left.offer(record);
      for (unsigned record = a; record < a + b; ++record) right.offer(record);
      left.merge(std::move(right));
      ASSERT_EQ(left.records().size(), std::min(s, a + b));
      for (unsigned record = a + b; record < n; ++record) left.offer(record);  // and goes on
      for (const unsigned record : left.records()) ++held[record];
    }
    EXPECT_GT(uniform_p(held, s, runs), surprising) << a << " + " << b << " + " << more;
  }
}

TEST(Reservoir, MergesTheHandlesOfDifferentSeedsOnly) {
  const auto make = [](const char* spec, std::uint64_t seed) {
    return make_sample(spec, {.seed = seed});
  };
  const auto a = make("reservoir:s=8", 1), b = make("reservoir:s=8", 2);
  for (std::uint64_t i = 1; i <= 100; ++i) a->offer(i), b->offer(1000 + i);
  a->merge(*b);
  EXPECT_EQ(a->health().records, 200u);
  EXPECT_EQ(a->records().size(), 8u);
  try {
    a->merge(*make("reservoir:s=8", 1));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
    EXPECT_NE(std::string(error.what()).find("same choices"), std::string::npos);
  }
  EXPECT_THROW(a->merge(*make("reservoir:s=9", 2)), Error);
  EXPECT_THROW(a->merge(*make("biased-reservoir:s=8", 2)), Error);
}

TEST(Reservoir, GivesInBatchesOfAnySizeWhatSingleOffersGive) {
  const auto single = make_sample("reservoir:s=100", {.seed = 9});
  const auto batch = make_sample("reservoir:s=100", {.seed = 9});
  std::vector<std::uint64_t> records(100000);
  std::iota(records.begin(), records.end(), 1);
  for (const std::uint64_t record : records) single->offer(record);
  const std::span<const std::uint64_t> all(records);
  for (std::size_t i = 0, size = 0; i < all.size(); i += size, ++size)
    batch->offer(all.subspan(i, std::min(size, all.size() - i)));
  EXPECT_EQ(batch->records(), single->records());
  EXPECT_EQ(batch->health().records, single->health().records);
}

TEST(Reservoir, TakesItsSizeFromTheMemoryAndRefusesShards) {
  const auto sample = make_sample("reservoir", {.memory = 1 << 20, .seed = 1});
  EXPECT_LE(sample->memory(), 1u << 20);
  try {
    make_sample("reservoir:s=10", {.shards = 2, .seed = 1});
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Config);
    EXPECT_NE(std::string(error.what()).find("1 shard only"), std::string::npos);
  }
  EXPECT_THROW(make_sample("reservoir", {.seed = 1}), Error);
}

TEST(Reservoir, RefusesForgedRegistersAndRecordsInUnusedSlots) {
  std::vector<std::uint64_t> memory(8);
  ReservoirSample sample({8}, reinterpret_cast<std::byte*>(memory.data()), RecordRandom(1));
  const std::vector<std::uint64_t> records{1, 2, 3};
  sample.offer(records);
  EXPECT_NO_THROW(sample.verify());
  memory[3] = 1;
  EXPECT_THROW(sample.verify(), Error);
  memory[3] = 0;
  sample.registers([i = 0](std::uint64_t& value) mutable { value += i++ == 1; });  // held
  EXPECT_THROW(sample.verify(), Error);
}

}  // namespace
}  // namespace weir
