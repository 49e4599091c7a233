#include "sketch/space_saving.hpp"

#include <gtest/gtest.h>

#include <unordered_map>

#include "lab/real_streams.hpp"
#include "sketch_testing.hpp"

namespace weir {
namespace {

using test::expect_refusal;
using test::ZipfStream;

using Truth = std::unordered_map<Digest, std::uint64_t>;

Truth truth_of(const std::vector<Digest>& digests) {
  Truth truth;
  for (const Digest digest : digests) ++truth[digest];
  return truth;
}

// Every bound the list states, against exact counts.
void expect_bounds(const Top& top, const Truth& truth, const std::string& what) {
  for (const Top::Entry& entry : top.entries()) {
    const auto found = truth.find(entry.digest);
    ASSERT_NE(found, truth.end()) << what;
    ASSERT_LE(entry.least, found->second) << what;
    ASSERT_GE(entry.most, found->second) << what;
  }
  std::uint64_t out_of_bounds = 0;
  for (const auto& [digest, count] : truth) out_of_bounds += top.estimate(digest) < count;
  EXPECT_EQ(out_of_bounds, 0u) << what;
}

TEST(SpaceSaving, HasCountsThatAddUpToTheStream) {
  for (const double exponent : {0.0, 0.9, 1.5}) {
    const auto digests = ZipfStream(300, exponent, 5000, 3).digests();
    const auto top = make_top("space-saving:m=40", {.seed = 1});
    for (const Digest digest : digests) top->add(digest);
    std::uint64_t sum = 0;
    for (const Top::Entry& entry : top->entries()) sum += entry.most;
    EXPECT_EQ(sum, digests.size());
    EXPECT_EQ(top->entries().size(), 40u);
  }
}

TEST(SpaceSaving, StatesBoundsThatHoldOnZipfAndRealStreams) {
  std::vector<std::pair<std::string, std::vector<Digest>>> streams;
  for (const double exponent : {0.0, 0.7, 1.0, 1.3})
    streams.emplace_back("zipf " + std::to_string(exponent),
                         ZipfStream(50'000, exponent, 300'000, 1).digests());
  const Digester digester = Digester::from_seed(HashKind::Xxh3, 5);
  for (const char* name : {"web12", "orm-night"}) {
    std::vector<Digest> digests;
    for (const std::string& line : test::real_stream(name)) digests.push_back(digester(line));
    if (!digests.empty()) streams.emplace_back(name, std::move(digests));
  }
  for (const auto& [name, digests] : streams)
    for (const std::uint32_t shards : {1u, 4u}) {
      const auto top = make_top("space-saving:m=500", {.shards = shards, .seed = 1});
      top->add(digests, {});
      const Truth truth = truth_of(digests);
      expect_bounds(*top, truth, name);
      EXPECT_EQ(top->total(), digests.size());
      if (shards > 1) continue;
      EXPECT_LE(top->rest(), digests.size() / 500) << name;
      for (const auto& [digest, count] : truth)  // who has more than N/m is held
        if (count > digests.size() / 500) {
          const auto entries = top->entries();
          EXPECT_TRUE(std::ranges::any_of(entries, [digest = digest](const Top::Entry& e) {
            return e.digest == digest;
          })) << name;
        }
    }
}

TEST(SpaceSaving, IsExactWhileAllKeysFit) {
  const auto digests = ZipfStream(400, 0.8, 20'000, 2).digests();
  const auto top = make_top("space-saving:m=400", {.seed = 1});
  top->add(digests, {});
  const Truth truth = truth_of(digests);
  EXPECT_EQ(top->rest(), 0u);
  EXPECT_EQ(top->entries().size(), truth.size());
  for (const Top::Entry& entry : top->entries()) {
    EXPECT_EQ(entry.least, entry.most);
    EXPECT_EQ(entry.most, truth.at(entry.digest));
  }
}

TEST(SpaceSaving, KeepsItsIndexWholeWhateverComesAndGoes) {
  // Digests whose upper halves are few and at both ends: long runs that wrap around.
  const SpaceSaving::Shape shape{50, 4};
  std::vector<std::uint64_t> memory(SpaceSaving::bytes(shape) / 8 + 1);
  SpaceSaving sketch(shape, reinterpret_cast<std::byte*>(memory.data()), RecordRandom(1));
  Draws draws(5);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t tag = draws.below(6) == 0 ? draws.below(4) : 0xffffffff - draws.below(4);
    const SpaceSaving::Target target{tag << 32 | draws.below(100)};
    sketch.add(target, 1 + draws.below(3));
    if (i % 16 == 0) {
      ASSERT_NO_THROW(sketch.verify()) << i;
    }
  }
}

TEST(SpaceSaving, MergedStatesBoundsOfTheJoinedStream) {
  for (const double exponent : {0.0, 1.0, 1.4})
    for (const std::size_t few : {std::size_t{100}, std::size_t{100'000}}) {
      auto a = ZipfStream(20'000, exponent, 100'000, 6).digests();
      const auto b = ZipfStream(20'000, exponent, few, 7).digests();
      // Half of the second stream's keys are the first one's.
      std::vector<Digest> second;
      for (std::size_t i = 0; i < b.size(); ++i) second.push_back(i % 2 == 0 ? a[i] : b[i]);
      const auto left = make_top("space-saving:m=300", {.shards = 2, .seed = 1});
      const auto right = make_top("space-saving:m=300", {.shards = 2, .seed = 1});
      left->add(a, {}), right->add(second, {});
      left->merge(*right);
      a.insert(a.end(), second.begin(), second.end());
      expect_bounds(*left, truth_of(a), "merged");
      EXPECT_EQ(left->total(), a.size());
      EXPECT_LE(left->rest(), 2 * a.size() / 300);
      left->add(a, {});  // and it goes on
      auto twice = truth_of(a);
      for (auto& [digest, count] : twice) count *= 2;
      expect_bounds(*left, twice, "went on");
    }
}

TEST(SpaceSaving, MergesExactListsExactly) {
  const auto a = make_top("space-saving:m=10", {.seed = 1}),
             b = make_top("space-saving:m=10", {.seed = 1});
  const std::vector<Digest> one = {1, 2, 2, 3}, two = {3, 3, 4};
  a->add(one, {}), b->add(two, {});
  a->merge(*b);
  ASSERT_EQ(a->entries().size(), 4u);
  EXPECT_EQ(a->estimate(3), 3u);
  EXPECT_EQ(a->estimate(2), 2u);
  EXPECT_EQ(a->estimate(9), 0u);
}

TEST(SpaceSaving, KeepsTheTextsOfWhatItHolds) {
  const auto top = make_top("space-saving:m=3,text=4", {.seed = 1});
  const std::vector<Digest> digests = {1, 2, 1, 3, 1, 2, 4};
  std::vector<std::uint32_t> entered(digests.size());
  ASSERT_EQ(top->meet(digests, entered), 4u);
  EXPECT_EQ(std::vector(entered.begin(), entered.begin() + 4),
            (std::vector<std::uint32_t>{0, 1, 3, 6}));
  const std::vector<Digest> named = {1, 2, 3, 4};
  const std::vector<std::string_view> texts = {"one", "", "three", "fourth"};
  top->name(named, texts);
  top->name(named, std::vector<std::string_view>(4, "again"));
  const auto entries = top->entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].text, "one");
  EXPECT_EQ(entries[1].text, "");
  EXPECT_TRUE(entries[1].named);
  EXPECT_EQ(entries[2].text, "four");  // the third was pushed out
  EXPECT_EQ(entries[2].text_bytes, 6u);
  EXPECT_EQ(entries[2].least, 1u);
  EXPECT_EQ(entries[2].most, 2u);
}

TEST(SpaceSaving, TakesItsSizeFromEpsilonMemoryOrKeys) {
  EXPECT_EQ(make_top("space-saving:epsilon=0.001")->parameters(), "m=1000,text=38");
  EXPECT_EQ(make_top("space-saving", {.keys = 70})->parameters(), "m=70,text=38");
  const auto by_memory = make_top("space-saving", {.memory = 1 << 20});
  EXPECT_LE(by_memory->memory(), 1u << 20);
  EXPECT_GT(by_memory->memory(), (1u << 20) - 8192);
  expect_refusal(ErrorCode::Config, "m or epsilon",
                 [] { make_top("space-saving:m=10,epsilon=0.1"); });
  expect_refusal(ErrorCode::Config, "needs a size", [] { make_top("space-saving"); });
  expect_refusal(ErrorCode::Config, "keeps no list",
                 [] { make_top("count-min", {.memory = 1 << 20}); });
  expect_refusal(ErrorCode::Unsupported, "not held any more", [] {
    const auto top = make_top("space-saving:m=10");
    top->add(1);
    top->remove(1);
  });
}

}  // namespace
}  // namespace weir
