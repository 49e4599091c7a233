#include "sketch/count_min.hpp"

#include <gtest/gtest.h>

#include "sketch_testing.hpp"

namespace weir {
namespace {

using test::add_all;
using test::cells;
using test::expect_refusal;
using test::Mean;
using test::ZipfStream;

constexpr Request seeded{.seed = 7};
constexpr const char* every_update[] = {"plain", "conservative"};

SketchPtr count_min(const std::string& update, const std::string& rest) {
  return make_sketch("count-min:update=" + update + "," + rest, seeded);
}

// Keys of the stream with an estimate below the truth, and above it by more than `slack`.
struct Misses {
  int under = 0, over = 0;
};
Misses misses(const Sketch& sketch, const ZipfStream& stream, double slack) {
  Misses result;
  for (std::size_t i = 0; i < stream.keys.size(); ++i) {
    const auto truth = static_cast<double>(stream.counts[i]);
    const auto estimate = static_cast<double>(sketch.estimate(stream.keys[i]));
    result.under += estimate < truth;
    result.over += estimate > truth + slack;
  }
  return result;
}

TEST(CountMin, NeverUnderestimatesAndExceedsTheBoundForAtMostDeltaOfTheKeys) {
  constexpr double epsilon = 0.001, delta = 0.01;
  const ZipfStream stream(100000, 1.1, 1000000, 1);
  for (const char* update : every_update) {
    const auto sketch = count_min(update, "epsilon=0.001,delta=0.01");
    add_all(*sketch, stream);
    const Misses m = misses(*sketch, stream, epsilon * 1000000);
    EXPECT_EQ(m.under, 0) << update;
    EXPECT_LE(m.over, delta * 100000) << update;
  }
}

TEST(CountMin, HasTheExpectedSurplusInASingleRow) {
  // One row: the surplus of a stranger is N / w on average, over hashes.
  constexpr std::size_t records = 20000;
  std::vector<double> surplus;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const ZipfStream stream(2000, 0.8, records, seed);
    const auto sketch = count_min("plain", "w=500,d=1");
    add_all(*sketch, stream);
    surplus.push_back(static_cast<double>(sketch->estimate(mix(seed, 12345))));
  }
  const Mean mean(surplus);
  EXPECT_NEAR(mean.value, records / 500.0, 3 * mean.error);
}

TEST(CountMin, IsConservativeNeverAbovePlain) {
  const ZipfStream stream(20000, 1.0, 300000, 2);
  const auto plain = count_min("plain", "w=5000,d=4");
  const auto conservative = count_min("conservative", "w=5000,d=4");
  add_all(*plain, stream);
  add_all(*conservative, stream);
  for (const Digest key : stream.keys) EXPECT_LE(conservative->estimate(key), plain->estimate(key));
  EXPECT_LT(misses(*conservative, stream, 0).over, misses(*plain, stream, 0).over);
}

TEST(CountMin, TakesItsSizeFromEpsilonAndDelta) {
  EXPECT_EQ(make_sketch("count-min:epsilon=0.001,delta=0.01", seeded)->parameters(),
            "w=2719,d=5,update=plain,bits=32");
  EXPECT_EQ(make_sketch("count-min:epsilon=0.5,delta=0.5,bits=64", seeded)->parameters(),
            "w=6,d=1,update=plain,bits=64");
}

TEST(CountMin, IsMadeAgainFromItsOwnParameters) {
  const auto first = make_sketch("count-min:epsilon=0.01,delta=0.001,update=conservative", seeded);
  const auto second = make_sketch("count-min:" + first->parameters(), seeded);
  EXPECT_EQ(second->parameters(), first->parameters());
  EXPECT_EQ(second->memory(), first->memory());
}

TEST(CountMin, TakesItsSizeFromTheMemoryOrTheKeys) {
  const auto by_memory = make_sketch("count-min", {.memory = 1 << 20, .seed = 7});
  EXPECT_LE(by_memory->memory(), 1u << 20);
  EXPECT_GT(by_memory->memory(), (1u << 20) - 8192);
  const auto by_keys = make_sketch("count-min", {.fpr = 0.01, .keys = 10000, .seed = 7});
  Draws draws(1);
  for (int i = 0; i < 10000; ++i) by_keys->add(draws.next());
  EXPECT_NEAR(by_keys->health().fpr, 0.01, 0.05 * 0.01);  // the promise: within 5 %
  expect_refusal(ErrorCode::Config, "needs a size", [] { make_sketch("count-min", seeded); });
  expect_refusal(ErrorCode::Config, "w or epsilon",
                 [] { make_sketch("count-min:w=100,epsilon=0.1", seeded); });
}

TEST(CountMin, ForgetsExactlyWhatIsTakenBackWithPlainUpdates) {
  const ZipfStream kept(5000, 1.0, 50000, 3), passing(5000, 1.0, 50000, 4);
  const auto sketch = count_min("plain", "w=2000,d=4");
  add_all(*sketch, kept);
  const auto before = cells(*sketch);
  const double fill = sketch->health().fill;
  add_all(*sketch, passing);
  for (std::size_t i = 0; i < passing.keys.size(); ++i)
    if (passing.counts[i] > 0) sketch->remove(passing.keys[i], passing.counts[i]);
  EXPECT_EQ(cells(*sketch), before);
  EXPECT_EQ(sketch->health().fill, fill);
  EXPECT_EQ(misses(*sketch, kept, 0).under, 0);
  expect_refusal(ErrorCode::Config, "cannot be taken back", [&] { sketch->remove(1, 1 << 30); });
}

TEST(CountMin, RefusesRemovalWithConservativeUpdatesAndSaysWhy) {
  const auto sketch = count_min("conservative", "w=100,d=3");
  sketch->add(1);
  const auto before = cells(*sketch);
  expect_refusal(ErrorCode::Unsupported, "too small", [&] { sketch->remove(1); });
  EXPECT_EQ(cells(*sketch), before);
}

TEST(CountMin, MergedWithPlainUpdatesEqualsTheSketchOfTheJoinedStream) {
  const ZipfStream a(5000, 1.0, 50000, 6), b(5000, 0.7, 50000, 8);
  const auto left = count_min("plain", "w=3000,d=4"), right = count_min("plain", "w=3000,d=4");
  const auto joined = count_min("plain", "w=3000,d=4");
  add_all(*left, a), add_all(*joined, a);
  add_all(*right, b), add_all(*joined, b);
  left->merge(*right);
  EXPECT_EQ(cells(*left), cells(*joined));
  EXPECT_EQ(left->total(), joined->total());
  EXPECT_EQ(left->health().fpr, joined->health().fpr);
}

TEST(CountMin, MergedWithConservativeUpdatesStillNeverUnderestimatesNorExceedsPlain) {
  const ZipfStream a(5000, 1.0, 50000, 6);
  const auto left = count_min("conservative", "w=1000,d=4");
  const auto right = count_min("conservative", "w=1000,d=4");
  const auto plain = count_min("plain", "w=1000,d=4");
  const auto all = a.digests();
  const std::span<const Digest> digests(all);
  left->add(digests.first(20000), {});
  right->add(digests.subspan(20000), {});
  plain->add(digests, {});
  left->merge(*right);
  EXPECT_EQ(misses(*left, a, 0).under, 0);
  for (const Digest key : a.keys) EXPECT_LE(left->estimate(key), plain->estimate(key));
}

TEST(CountMin, RefusesToMergeSketchesOfOtherShapesOrSecrets) {
  const auto a = make_sketch("count-min:w=100,d=3", {.seed = 1});
  expect_refusal(ErrorCode::Config, "parameters differ",
                 [&] { a->merge(*make_sketch("count-min:w=101,d=3", {.seed = 1})); });
  expect_refusal(ErrorCode::Config, "different secrets",
                 [&] { a->merge(*make_sketch("count-min:w=100,d=3", {.seed = 2})); });
}

TEST(CountMin, SumsWithWeightsEqualTheSketchOfRepeatedStreams) {
  const ZipfStream first(300, 1.0, 3000, 1), second(300, 1.0, 2000, 2);
  const auto a = count_min("plain", "w=50,d=4"), b = count_min("plain", "w=50,d=4");
  const auto expected = count_min("plain", "w=50,d=4"), sum = count_min("plain", "w=50,d=4");
  add_all(*a, first);
  add_all(*b, second);
  for (int i = 0; i < 3; ++i) add_all(*expected, first);
  add_all(*expected, second);
  const Sketch* const parts[] = {a.get(), b.get()};
  constexpr std::int64_t three_and_one[] = {3, 1};
  sum->set_sum(parts, three_and_one);
  EXPECT_EQ(cells(*sum), cells(*expected));
  EXPECT_EQ(sum->total(), 3 * 3000 + 2000U);

  // In place: what a weight below zero takes out leaves the rest.
  const Sketch* const taken_out[] = {a.get(), sum.get()};
  constexpr std::int64_t minus_three_and_one[] = {-3, 1};
  sum->set_sum(taken_out, minus_three_and_one);
  EXPECT_EQ(cells(*sum), cells(*b));
  EXPECT_EQ(sum->total(), 2000U);
  EXPECT_EQ(sum->health().fill, b->health().fill);
}

TEST(CountMin, RefusesASumThatDoesNotFitAndChangesNothing) {
  const auto a = count_min("plain", "w=8,d=2"), b = count_min("plain", "w=8,d=2");
  a->add(1, 1000);
  b->add(2, 5);
  const Sketch* const parts[] = {a.get(), b.get()};
  const auto refused = [&](std::int64_t of_a, std::int64_t of_b) {
    const std::int64_t weights[] = {of_a, of_b};
    const auto before = cells(*b);
    expect_refusal(ErrorCode::Config, "exceed its maximum", [&] { b->set_sum(parts, weights); });
    EXPECT_EQ(cells(*b), before);
    EXPECT_EQ(b->total(), 5U);
  };
  refused(-1, 1);
  refused(5'000'000, 1);
  refused(std::numeric_limits<std::int64_t>::max(), 1);
  refused(std::numeric_limits<std::int64_t>::min(), 1);
  a->add(1, 0xffffffff);  // at its maximum: nobody knows how far beyond
  refused(1, -1);
  refused(2, 0);
  const auto other = count_min("conservative", "w=8,d=2");
  const Sketch* const itself[] = {other.get()};
  constexpr std::int64_t once[] = {1};
  expect_refusal(ErrorCode::Unsupported, "no weighted sum", [&] { other->set_sum(itself, once); });
}

TEST(CountMin, GivesInBatchesOfAnySizeWhatSingleCallsGive) {
  const auto digests = ZipfStream(3000, 1.0, 20000, 10).digests();
  for (const char* update : every_update)
    for (const std::uint32_t shards : {1u, 3u}) {
      const std::string spec = std::string("count-min:w=700,d=4,update=") + update;
      const Request request{.shards = shards, .seed = 7};
      const auto single = make_sketch(spec, request), batch = make_sketch(spec, request);
      std::vector<std::uint64_t> expected, out(digests.size()), seen(digests.size());
      for (const Digest digest : digests) expected.push_back(single->add(digest));
      const std::span<const Digest> all(digests);
      for (std::size_t i = 0, size = 0; i < all.size(); i += size, ++size) {
        const std::size_t n = std::min(size, all.size() - i);
        batch->add(all.subspan(i, n), std::span(out).subspan(i, n));
      }
      EXPECT_EQ(out, expected) << spec;
      EXPECT_EQ(cells(*batch), cells(*single)) << spec;
      batch->estimate(all, seen);
      for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(seen[i], single->estimate(all[i]));
    }
}

TEST(CountMin, StatesTheChanceThatAStrangerSeemsToHaveCome) {
  const ZipfStream stream(4000, 0.5, 30000, 11);
  Draws strangers(99);
  constexpr int asked = 200000;
  for (const char* update : every_update) {
    const auto sketch = count_min(update, "w=6000,d=3");
    add_all(*sketch, stream);
    int positive = 0;
    for (int i = 0; i < asked; ++i) positive += sketch->estimate(strangers.next()) > 0;
    const double fpr = sketch->health().fpr;
    EXPECT_NEAR(positive / double{asked}, fpr, 3 * std::sqrt(fpr * (1 - fpr) / asked)) << update;
  }
}

TEST(CountMin, RefusesRegistersThatDoNotFitTheCounters) {
  const CountMin::Shape shape{100, 3, CountMin::Update::Plain, Width::Bits32};
  std::vector<std::uint64_t> memory(CountMin::bytes(shape) / 8 + 1);
  CountMin sketch(shape, reinterpret_cast<std::byte*>(memory.data()), RecordRandom(1));
  CountMin::Target target;
  sketch.locate(12345, target);
  sketch.add(target, 5);
  EXPECT_NO_THROW(sketch.verify());
  for (int forged = 0; forged < 3; ++forged) {
    const auto forge = [&](std::uint64_t by) {
      int i = 0;
      sketch.registers([&](std::uint64_t& value) { value += i++ == forged ? by : 0; });
    };
    forge(1);
    EXPECT_THROW(sketch.verify(), Error);
    forge(~std::uint64_t{0});
    EXPECT_NO_THROW(sketch.verify());
  }
}

}  // namespace
}  // namespace weir
