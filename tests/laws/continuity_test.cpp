// Law 2: save, load, go on gives what never stopping gives.
#include "laws/every_structure.hpp"

namespace weir::laws {
namespace {

class SlowContinuity : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Every, SlowContinuity, testing::ValuesIn(every_variant()), test_name);

TEST_P(SlowContinuity, AfterLoadingAMillionRecordsFareAsIfItHadNeverStopped) {
  const auto original = make_structure(GetParam(), {.memory = 80 << 10, .fpr = 0.01});
  answers(*original, stream(1, 150'000, 100'000), 512);
  const auto restored = reloaded(*original);
  ASSERT_TRUE(same_state(*original, *restored));
  EXPECT_EQ(original->parameters(), restored->parameters());
  EXPECT_EQ(original->digest("key"), restored->digest("key"));

  const auto more = stream(2, 1'000'000, 200'000);
  EXPECT_EQ(answers(*original, more, 512), answers(*restored, more, 512));
  EXPECT_TRUE(same_state(*original, *restored));
}

class Continuity : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Every, Continuity, testing::ValuesIn(every_variant()), test_name);

TEST_P(Continuity, HoldsForAnEmptyAnAlmostEmptyAndAShardedOne) {
  for (const std::size_t records : {0, 1, 700}) {
    Request request = {.memory = 80 << 10, .hash = HashKind::SipHash};
    if (takes_shards(GetParam())) request.shards = 3;
    const auto original = make_structure(GetParam(), request);
    answers(*original, stream(3, records, 5'000), 0);
    const auto restored = reloaded(*original);
    EXPECT_EQ(restored->shards(), original->shards());
    EXPECT_EQ(original->digest("key"), restored->digest("key"));
    const auto more = stream(4, 20'000, 8'000);
    EXPECT_EQ(answers(*original, more, 100), answers(*restored, more, 0));
    EXPECT_TRUE(same_state(*original, *restored));
  }
}

TEST_P(Continuity, TheSameSeedGivesTheSameStateAndAnotherSeedAnother) {
  const auto digests = stream(5, 20'000, 10'000);
  const auto state_with = [&](std::uint64_t seed) {
    auto made = make_structure(GetParam(), {.memory = 64 << 10, .seed = seed});
    answers(*made, digests, 64);
    return std::pair(made->digest("key"),
                     std::vector(made->payload().begin(), made->payload().end()));
  };
  EXPECT_EQ(state_with(1), state_with(1));
  EXPECT_NE(state_with(1).first, state_with(2).first);
}

}  // namespace
}  // namespace weir::laws
