// Law 8 for the Bloom filter: union, halving and estimates.
#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <cmath>

#include "laws/every_structure.hpp"

namespace weir {
namespace {

using laws::stream;

FilterPtr filled(const std::string& spec, std::span<const Digest> digests,
                 std::uint32_t shards = 1) {
  auto filter = make_filter(spec, {.shards = shards, .seed = 4});
  std::vector<Verdict> verdicts(digests.size());
  filter->observe(digests, verdicts);
  return filter;
}

bool same_bits(const Filter& a, const Filter& b) {
  return std::ranges::equal(a.payload(), b.payload()) && a.health().fill == b.health().fill;
}

TEST(Bloom, UnionEqualsTheFilterOfTheJoinedStreamsBitForBit) {
  EXPECT_TRUE(rc::check([] {
    const auto a = *rc::gen::container<std::vector<Digest>>(rc::gen::arbitrary<Digest>());
    const auto b = *rc::gen::container<std::vector<Digest>>(rc::gen::arbitrary<Digest>());
    std::vector<Digest> joined = a;
    joined.insert(joined.end(), b.begin(), b.end());
    for (const char* spec : {"bloom:m=4096,k=5", "bloom:m=4097,k=5", "blocked-bloom:lines=16,k=6"})
      for (const std::uint32_t shards : {1u, 3u}) {
        const auto left = filled(spec, a, shards), right = filled(spec, b, shards);
        left->merge(*right);
        RC_ASSERT(same_bits(*left, *filled(spec, joined, shards)));
      }
  }));
}

TEST(Bloom, HalvingEqualsBuildingAtHalfTheSize) {
  const auto digests = stream(1, 3000, 2500);
  for (std::uint64_t m : {65536ULL, 81920ULL, 3ULL << 13, 1000ULL * 128}) {
    auto filter = filled("bloom:k=4,m=" + std::to_string(m), digests);
    while (m % 128 == 0) {
      filter = filter->halved();
      m /= 2;
      EXPECT_TRUE(same_bits(*filter, *filled("bloom:k=4,m=" + std::to_string(m), digests))) << m;
      for (const Digest digest : digests) ASSERT_TRUE(filter->contains(digest));
    }
    EXPECT_THROW(filter->halved(), Error) << m;
  }
}

TEST(Bloom, SizedByMemoryOrByKeysItCanBeHalvedSeveralTimes) {
  auto filter = make_filter("bloom", {.memory = 10'000'000});
  for (int i = 0; i < 6; ++i) filter = filter->halved();
  filter = make_filter("bloom", {.fpr = 0.01, .keys = 1'000'000});
  for (int i = 0; i < 6; ++i) filter = filter->halved();
}

TEST(Bloom, HalvedShardsAreHalvedEach) {
  const auto digests = stream(2, 3000, 2500);
  const auto filter = filled("bloom:k=4,m=16384", digests, 3);
  EXPECT_TRUE(same_bits(*filter->halved(), *filled("bloom:k=4,m=8192", digests, 3)));
}

TEST(Bloom, SizedByKeysAndFprItKeepsTheFpr) {
  for (const char* name : {"bloom", "blocked-bloom", "counting"})
    for (const double fpr : {0.1, 0.01, 0.001}) {
      const std::uint64_t keys = 100'000;
      const auto filter = make_filter(name, {.fpr = fpr, .keys = keys, .seed = 9});
      std::vector<Digest> digests(keys);
      for (std::uint64_t i = 0; i < keys; ++i) digests[i] = mix(i, 1);
      std::vector<Verdict> verdicts(keys);
      filter->observe(digests, verdicts);
      std::uint64_t wrong = 0;
      const std::uint64_t asked = 1'000'000;
      for (std::uint64_t i = 0; i < asked; ++i) wrong += filter->contains(mix(i, 2)) ? 1 : 0;
      const double error = std::sqrt(fpr / static_cast<double>(asked));
      // k is whole, so the FPR may miss the aim by some percent; that is part of predict().
      EXPECT_LT(static_cast<double>(wrong) / static_cast<double>(asked), fpr * 1.05 + 3 * error)
          << name << ' ' << fpr;
    }
}

// The estimate is ln(zeros/m) / (k ln(1-1/m)); by the delta method its standard error is
// sqrt((exp(r) - r - 1) m) / k with r = kn/m (zeros vary by m exp(-r)(1 - (1+r) exp(-r))).
double keys_error(double n, double m, double k) {
  const double r = k * n / m;
  return std::sqrt(m * (std::exp(r) - r - 1)) / k;
}

TEST(Bloom, EstimatesItsKeysAndAnIntersectionWithinTheirStandardErrors) {
  const double m = 1 << 17, k = 5;
  std::vector<Digest> a, b, both;
  for (std::uint64_t i = 0; i < 15'000; ++i) a.push_back(mix(i, 3));
  for (std::uint64_t i = 10'000; i < 22'000; ++i) b.push_back(mix(i, 3));
  const auto left = filled("bloom:k=5,m=131072", a), right = filled("bloom:k=5,m=131072", b);
  EXPECT_NEAR(left->estimate_keys(), 15'000, 3 * keys_error(15'000, m, k));
  EXPECT_NEAR(right->estimate_keys(), 12'000, 3 * keys_error(12'000, m, k));
  const double error =
      keys_error(15'000, m, k) + keys_error(12'000, m, k) + keys_error(22'000, m, k);
  EXPECT_NEAR(left->estimate_intersection(*right), 5'000, 3 * error);
}

TEST(Bloom, OthersRefuseWhatTheyCannotDoWithTheReason) {
  const auto stable = make_filter("stable:m=1024"), other = make_filter("stable:m=1024");
  const auto bloom = make_filter("bloom:m=1024");
  const auto reason = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unsupported);
      return error.what();
    }
    ADD_FAILURE() << "not refused";
    return "";
  };
  using testing::HasSubstr;
  EXPECT_THAT(reason([&] { stable->merge(*other); }), HasSubstr("cannot be merged"));
  EXPECT_THAT(reason([&] { static_cast<void>(stable->halved()); }), HasSubstr("halved"));
  EXPECT_THAT(reason([&] { static_cast<void>(stable->estimate_keys()); }), HasSubstr("keys"));
  EXPECT_THAT(reason([&] { bloom->remove(1); }), HasSubstr("counting filter can"));
}

TEST(Bloom, FiltersWithDifferentSecretsAreNotMerged) {
  const auto a = make_filter("bloom:m=1024,k=3", {.seed = 1});
  const auto b = make_filter("bloom:m=1024,k=3", {.seed = 2});
  EXPECT_THROW(a->merge(*b), Error);
  EXPECT_THROW(static_cast<void>(a->estimate_intersection(*b)), Error);
}

}  // namespace
}  // namespace weir
