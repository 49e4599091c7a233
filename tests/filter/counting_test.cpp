#include <cmath>

#include "laws/every_structure.hpp"

namespace weir {
namespace {

TEST(Counting, ForgetsWhatIsRemovedAndKeepsTheRest) {
  const auto filter = make_filter("counting:m=100000,k=5", {.seed = 1});
  std::vector<Digest> let_in;  // one in some hundred is held for known and not let in
  for (std::uint64_t i = 0; i < 8'000; ++i)
    if (filter->observe(mix(i, 1)) == Verdict::New) let_in.push_back(mix(i, 1));
  const std::size_t half = let_in.size() / 2;
  for (std::size_t i = 0; i < half; ++i) ASSERT_TRUE(filter->remove(let_in[i]));
  for (std::size_t i = half; i < let_in.size(); ++i) ASSERT_TRUE(filter->contains(let_in[i]));
  // What is left of the removed are false positives of the others.
  double still = 0;
  for (std::size_t i = 0; i < half; ++i) still += filter->contains(let_in[i]) ? 1 : 0;
  const double expected = static_cast<double>(half) * filter->health().fpr;
  EXPECT_NEAR(still, expected, 3 * std::sqrt(expected) + 1);
}

TEST(Counting, OneRemovalUndoesAnyNumberOfObservations) {
  const auto filter = make_filter("counting:m=4096,k=4");
  for (int i = 0; i < 100; ++i) filter->observe(42);
  EXPECT_TRUE(filter->remove(42));
  EXPECT_FALSE(filter->contains(42));
}

TEST(Counting, RemovingAStrangerItDoesNotContainChangesNothing) {
  const auto filter = make_filter("counting:m=4096,k=4", {.seed = 1});
  for (std::uint64_t i = 0; i < 300; ++i) filter->observe(mix(i, 1));
  const auto before = std::vector(filter->payload().begin(), filter->payload().end());
  std::uint64_t strangers = 0;
  for (std::uint64_t i = 0; i < 1'000; ++i)
    if (!filter->contains(mix(i, 2))) {
      EXPECT_FALSE(filter->remove(mix(i, 2)));
      ++strangers;
    }
  EXPECT_GT(strangers, 900u);
  EXPECT_TRUE(std::ranges::equal(before, filter->payload()));
}

TEST(Counting, RemovingAStrangerItBelievesToContainForgetsOthers) {
  const auto filter = make_filter("counting:m=4096,k=2", {.seed = 1});
  std::vector<Digest> keys;
  for (std::uint64_t i = 0; i < 1'000; ++i)
    if (filter->observe(mix(i, 1)) == Verdict::New) keys.push_back(mix(i, 1));
  Digest stranger = 0;
  for (std::uint64_t i = 0; stranger == 0; ++i)
    if (filter->contains(mix(i, 2))) stranger = mix(i, 2);
  const auto held = [&] {
    return std::ranges::count_if(keys, [&](Digest d) { return filter->contains(d); });
  };
  ASSERT_EQ(held(), std::ssize(keys));
  while (filter->remove(stranger)) {  // each removal takes what belongs to others
  }
  EXPECT_LT(held(), std::ssize(keys)) << "the documented harm";
}

TEST(Counting, AFalsePositiveAddsNothing) {
  const auto filter = make_filter("counting:m=1,k=1");
  EXPECT_EQ(filter->observe(1), Verdict::New);
  EXPECT_EQ(filter->observe(2), Verdict::Seen);
  EXPECT_TRUE(filter->remove(1));
  EXPECT_FALSE(filter->contains(2));
}

TEST(Counting, ASaturatedCounterNeverDrops) {
  // Sixteen keys that have one counter in common and are strangers otherwise.
  constexpr const char* spec = "counting:m=64,k=2";
  const auto cells_of = [&](Digest digest) {
    const auto one = make_filter(spec, {.seed = 3});
    one->observe(digest);
    return std::vector(one->payload().begin(), one->payload().end());
  };
  const auto filter = make_filter(spec, {.seed = 3});
  std::vector<Digest> keys;
  for (std::uint64_t i = 0; keys.size() < 16; ++i) {
    const Digest digest = mix(i, 1);
    if ((cells_of(digest)[0] & std::byte{15}) == std::byte{1} &&
        filter->observe(digest) == Verdict::New)
      keys.push_back(digest);
  }
  EXPECT_EQ(filter->payload()[0] & std::byte{15}, std::byte{15});
  for (const Digest digest : keys) EXPECT_TRUE(filter->remove(digest));
  EXPECT_EQ(filter->payload()[0] & std::byte{15}, std::byte{15});
  EXPECT_EQ(filter->health().fill, 1.0 / 64) << "the others are back at zero";
}

}  // namespace
}  // namespace weir
