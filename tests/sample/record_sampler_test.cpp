#include "sample/record_sampler.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "chi_square.hpp"
#include "core/bits.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

using Way = RecordSampler::Way;

RecordSampler sampler(Way way, std::uint64_t n, std::uint64_t seed, double half_life = 0) {
  return {way, n, half_life, seed, Digester::from_seed(HashKind::Xxh3, seed)};
}

// The p-value of counts against probabilities that add up to 1.
double p_value(const std::vector<double>& probabilities, const std::vector<double>& counts) {
  double runs = 0, statistic = 0;
  for (const double count : counts) runs += count;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = runs * probabilities[i];
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return test::chi_square_p(statistic, static_cast<double>(counts.size()) - 1);
}

constexpr int runs = 20'000;

TEST(RecordSampler, HoldsEveryRecordWithTheSameProbability) {
  std::vector<double> counts(25);
  for (int run = 0; run < runs; ++run) {
    auto sample = sampler(Way::Uniform, 1, static_cast<std::uint64_t>(run));
    for (std::size_t i = 0; i < counts.size(); ++i) sample.offer(std::to_string(i), 1, 0);
    ++counts[std::stoul(sample.held()[0].record)];
  }
  EXPECT_GT(p_value(std::vector<double>(25, 1 / 25.0), counts), test::surprising);
}

TEST(RecordSampler, LeapsToWhereSingleOffersLead) {
  auto single = sampler(Way::Uniform, 7, 5), leaping = sampler(Way::Uniform, 7, 5);
  for (int i = 0; i < 5000; ++i) {
    single.offer(std::to_string(i), 1, 0);
    if (leaping.certain_misses() > 0)
      leaping.skip(1);
    else
      leaping.offer(std::to_string(i), 1, 0);
  }
  ASSERT_EQ(single.held().size(), leaping.held().size());
  for (std::size_t i = 0; i < single.held().size(); ++i) {
    EXPECT_EQ(single.held()[i].record, leaping.held()[i].record);
    EXPECT_EQ(single.held()[i].record, std::to_string(single.held()[i].ordinal));
  }
}

TEST(RecordSampler, DrawsByWeight) {
  std::vector<double> probabilities, counts(10);
  for (int weight = 1; weight <= 10; ++weight) probabilities.push_back(weight / 55.0);
  for (int run = 0; run < runs; ++run) {
    auto sample = sampler(Way::Weighted, 1, static_cast<std::uint64_t>(run));
    for (std::uint32_t i = 0; i < 10; ++i) sample.offer(std::to_string(i), i + 1, 0);
    ++counts[std::stoul(sample.held()[0].record)];
  }
  EXPECT_GT(p_value(probabilities, counts), test::surprising);
}

TEST(RecordSampler, DrawsByWeightWithoutPuttingBack) {
  // Of weights 1, 2, 3 two are drawn; the one left out is the last of the three draws.
  const std::vector<double> weights = {1, 2, 3};
  std::vector<double> left_out(3), counts(3);
  for (std::size_t first = 0; first < 3; ++first)
    for (std::size_t second = 0; second < 3; ++second)
      if (first != second)
        left_out[3 - first - second] += weights[first] / 6 * weights[second] / (6 - weights[first]);
  for (int run = 0; run < runs; ++run) {
    auto sample = sampler(Way::Weighted, 2, static_cast<std::uint64_t>(run));
    for (std::uint32_t i = 0; i < 3; ++i) sample.offer(std::to_string(i), i + 1, 0);
    ASSERT_EQ(sample.held().size(), 2u);
    ++counts[3 - std::stoul(sample.held()[0].record) - std::stoul(sample.held()[1].record)];
  }
  EXPECT_GT(p_value(left_out, counts), test::surprising);
}

TEST(RecordSampler, DrawsKeysWhateverTheirFrequency) {
  std::vector<double> counts(20);
  for (int run = 0; run < runs; ++run) {
    auto sample = sampler(Way::Distinct, 1, static_cast<std::uint64_t>(run));
    for (std::size_t i = 0; i < 60; ++i) {
      const std::size_t key = i % 2 == 0 ? 0 : i % 20;  // the first one every other time
      sample.offer(std::to_string(key), 1, sample.digester()("key " + std::to_string(key)));
      const std::size_t rare = i % 20;
      sample.offer(std::to_string(rare), 1, sample.digester()("key " + std::to_string(rare)));
    }
    ++counts[std::stoul(sample.held()[0].record)];
  }
  EXPECT_GT(p_value(std::vector<double>(20, 1 / 20.0), counts), test::surprising);
}

TEST(RecordSampler, HoldsTheFirstRecordOfEachKeyOnce) {
  auto sample = sampler(Way::Distinct, 50, 3);
  for (int i = 0; i < 1000; ++i)
    sample.offer(std::to_string(i), 1, sample.digester()(std::to_string(i % 40)));
  ASSERT_EQ(sample.held().size(), 40u);
  for (const auto& held : sample.held()) EXPECT_LT(held.ordinal, 40u);
}

TEST(RecordSampler, HalvesTheChanceWithEveryHalfLife) {
  // One slot: its record is a records old with probability q (1 - q)^a, 2^(-a/h) of the newest's.
  constexpr int half_life = 20, stream = 200, bin = 10, bins = 12;
  const double q = 1 - std::exp2(-1.0 / half_life);
  std::vector<double> probabilities(bins + 1), counts(bins + 1);  // the last: older, or none
  double sum = 0;
  for (int age = 0; age < bin * bins; ++age) {
    probabilities[static_cast<std::size_t>(age / bin)] +=
        q * std::exp2(-double{1} * age / half_life);
    sum += q * std::exp2(-double{1} * age / half_life);
  }
  probabilities[bins] = 1 - sum;
  for (int run = 0; run < runs; ++run) {
    auto sample = sampler(Way::Recent, 1, static_cast<std::uint64_t>(run), half_life);
    for (int i = 0; i < stream; ++i) sample.offer("x", 1, 0);
    const std::size_t age = sample.held().empty() ? stream : stream - 1 - sample.held()[0].ordinal;
    ++counts[std::min<std::size_t>(age / bin, bins)];
  }
  EXPECT_GT(p_value(probabilities, counts), test::surprising);
}

TEST(RecordSampler, HoldsAsManyRecentOnesAsItsLawSays) {
  // n = 8, h = 100: in a long stream a record that is a old is held with probability q 2^(-a/h).
  constexpr double n = 8, half_life = 100;
  constexpr int stream = 3000, aged = 150, times = 5000;
  const double q = n * -std::expm1(-std::log(2) / half_life);
  const double expected = q * std::exp2(-aged / half_life);
  int found = 0;
  for (int run = 0; run < times; ++run) {
    auto sample = sampler(Way::Recent, 8, static_cast<std::uint64_t>(run), half_life);
    for (int i = 0; i < stream; ++i) sample.offer("x", 1, 0);
    for (const auto& held : sample.held()) found += held.ordinal == stream - 1 - aged;
  }
  EXPECT_NEAR(found / double{times}, expected, 3 * std::sqrt(expected * (1 - expected) / times));
}

TEST(RecordSampler, RefusesAHalfLifeThatTheSampleCannotHave) {
  EXPECT_NO_THROW(sampler(Way::Recent, 144, 1, 100));
  EXPECT_THROW(sampler(Way::Recent, 145, 1, 100), Error);
  EXPECT_THROW(sampler(Way::Recent, 1, 1, 0), Error);
  EXPECT_THROW(sampler(Way::Uniform, 0, 1), Error);
}

class SavedSample : public testing::TestWithParam<Way> {
 protected:
  [[nodiscard]] RecordSampler made() const { return sampler(GetParam(), 30, 9, 1000); }
  static void feed(RecordSampler& sample, int from, int to) {
    for (int i = from; i < to; ++i)
      sample.offer("record " + std::to_string(i), static_cast<std::uint32_t>(1 + i % 7),
                   sample.digester()(std::to_string(i % 500)));
  }
  static std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) /
      ("sample." + std::to_string(::getpid()) + "." + std::to_string(static_cast<int>(GetParam())));
  void TearDown() override { std::filesystem::remove(file_); }
};
INSTANTIATE_TEST_SUITE_P(Every, SavedSample,
                         testing::Values(Way::Uniform, Way::Recent, Way::Weighted, Way::Distinct));

TEST_P(SavedSample, GoesOnAsIfNeverStopped) {
  auto whole = made(), first = made();
  feed(whole, 0, 5000);
  feed(first, 0, 2000);
  first.save(file_);
  auto second = RecordSampler::load(file_);
  feed(second, 2000, 5000);
  second.save(file_);
  const std::string expected = bytes_of(file_);
  whole.save(file_);
  EXPECT_EQ(bytes_of(file_), expected);
  EXPECT_GT(whole.held().size(), 15u);
}

TEST_P(SavedSample, IsRefusedWhenAnyByteIsOtherThanItWas) {
  auto sample = made();
  feed(sample, 0, 2000);
  sample.save(file_);
  const std::string good = bytes_of(file_);
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(file_, std::ios::binary) << bytes;
    try {
      RecordSampler::load(file_);
      return false;
    } catch (const Error& error) {
      return error.code() == ErrorCode::BadState;
    }
  };
  for (std::size_t at = 0; at < good.size(); at += at < 400 ? 1 : 13) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    EXPECT_TRUE(refused(bad)) << at;
  }
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{7}, std::size_t{304}, good.size() - 1})
    EXPECT_TRUE(refused(good.substr(0, length))) << length;
  EXPECT_TRUE(refused(good + "x"));
}

}  // namespace
}  // namespace weir
