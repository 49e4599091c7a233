#include "sketch/spectral.hpp"

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
constexpr const char* every_rule[] = {"minimum-selection", "minimal-increase", "recurring-minimum"};

SketchPtr spectral(const std::string& rule, const std::string& rest) {
  return make_sketch("spectral:rule=" + rule + "," + rest, seeded);
}

// Shares of the keys of the stream.
struct Errors {
  double wrong = 0, under = 0;
};
Errors errors(const Sketch& sketch, const ZipfStream& stream) {
  Errors e;
  for (std::size_t i = 0; i < stream.keys.size(); ++i) {
    if (stream.counts[i] == 0) continue;
    const std::uint64_t estimate = sketch.estimate(stream.keys[i]);
    e.wrong += estimate != stream.counts[i];
    e.under += estimate < stream.counts[i];
  }
  const auto keys = static_cast<double>(stream.distinct());
  return {e.wrong / keys, e.under / keys};
}

TEST(Spectral, NeverUnderestimatesWithMinimumSelectionOrMinimalIncrease) {
  const ZipfStream stream(20000, 1.0, 300000, 1);
  for (const char* rule : {"minimum-selection", "minimal-increase"}) {
    const auto sketch = spectral(rule, "m=40000,k=4");  // crowded: most estimates are wrong
    add_all(*sketch, stream);
    const Errors e = errors(*sketch, stream);
    EXPECT_EQ(e.under, 0) << rule;
    EXPECT_GT(e.wrong, 0) << rule;
  }
}

TEST(Spectral, IsExactWhenNoKeysCollide) {
  const ZipfStream stream(20, 1.0, 5000, 1);
  for (const char* rule : every_rule) {
    const auto sketch = spectral(rule, "m=1000000,k=5");
    add_all(*sketch, stream);
    EXPECT_EQ(errors(*sketch, stream).wrong, 0) << rule;
    EXPECT_EQ(sketch->total(), 5000u);
    EXPECT_EQ(sketch->health().records, 5000u);
    EXPECT_EQ(sketch->health().seen, 5000 - stream.distinct());
  }
}

TEST(Spectral, ErrsWithMinimumSelectionAsOftenAsABloomFilterDoes) {
  constexpr double m = 60000, k = 4;
  constexpr std::size_t n = 10000;
  std::vector<double> surplus;  // of the measured rate over the predicted one
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const ZipfStream stream(n, 0.5, 100000, seed);
    const auto sketch = spectral("minimum-selection", "m=60000,k=4");
    add_all(*sketch, stream);
    const double others = static_cast<double>(stream.distinct()) - 1;
    const double predicted = std::pow(-std::expm1(k * others * std::log1p(-1 / m)), k);
    surplus.push_back(errors(*sketch, stream).wrong - predicted);
  }
  const Mean mean(surplus);
  EXPECT_NEAR(mean.value, 0, 3 * mean.error);
}

TEST(Spectral, IsWithMinimalIncreaseNeverAboveMinimumSelection) {
  const ZipfStream stream(20000, 1.0, 300000, 2);
  const auto selection = spectral("minimum-selection", "m=80000,k=5");
  const auto increase = spectral("minimal-increase", "m=80000,k=5");
  add_all(*selection, stream);
  add_all(*increase, stream);
  for (const Digest key : stream.keys) EXPECT_LE(increase->estimate(key), selection->estimate(key));
  EXPECT_LT(errors(*increase, stream).wrong, errors(*selection, stream).wrong);
}

TEST(Spectral, IsWithRecurringMinimumNeverAboveMinimumSelectionAndHardlyEverBelowTheTruth) {
  std::vector<double> gain, honest;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const ZipfStream stream(10000, 1.0, 200000, seed);
    const auto selection = spectral("minimum-selection", "m=70000,k=5");
    const auto recurring = spectral("recurring-minimum", "m=70000,k=5");
    add_all(*selection, stream);
    add_all(*recurring, stream);
    for (const Digest key : stream.keys)
      ASSERT_LE(recurring->estimate(key), selection->estimate(key));
    const Errors e = errors(*recurring, stream);
    gain.push_back(errors(*selection, stream).wrong - e.wrong);
    honest.push_back(e.wrong - 100 * e.under);
  }
  // Fewer keys wrong, and of the wrong ones less than one in a hundred below the truth, each
  // by three standard errors.
  EXPECT_GT(Mean(gain).value, 3 * Mean(gain).error);
  EXPECT_GT(Mean(honest).value, 3 * Mean(honest).error);
}

TEST(Spectral, KeepsTheSecondFilterWithinTheSameBudget) {
  const Request request{.memory = 1 << 20, .seed = 7};
  const auto one = make_sketch("spectral:rule=minimum-selection", request);
  const auto two = make_sketch("spectral:rule=recurring-minimum", request);
  EXPECT_LE(two->memory(), request.memory);
  EXPECT_EQ(two->payload().size(), one->payload().size());
}

TEST(Spectral, ForgetsExactlyWhatIsTakenBackWithMinimumSelection) {
  const ZipfStream kept(5000, 1.0, 50000, 3);
  const ZipfStream passing(5000, 1.0, 50000, 4);
  const auto sketch = spectral("minimum-selection", "m=20000,k=4");
  add_all(*sketch, kept);
  const auto before = cells(*sketch);
  const Health health = sketch->health();
  add_all(*sketch, passing);
  for (std::size_t i = 0; i < passing.keys.size(); ++i)
    if (passing.counts[i] > 0) sketch->remove(passing.keys[i], passing.counts[i]);
  EXPECT_EQ(cells(*sketch), before);
  EXPECT_EQ(sketch->health().fill, health.fill);
  EXPECT_EQ(sketch->total(), 50000u);
  EXPECT_EQ(errors(*sketch, kept).under, 0);
}

TEST(Spectral, TakesOccurrencesBackWithRecurringMinimum) {
  const ZipfStream stream(2000, 1.0, 20000, 5);
  const auto sketch = spectral("recurring-minimum", "m=200000,k=5");
  add_all(*sketch, stream);
  for (std::size_t i = 0; i < stream.keys.size(); i += 2)
    if (stream.counts[i] > 0) sketch->remove(stream.keys[i], stream.counts[i]);
  for (std::size_t i = 0; i < stream.keys.size(); ++i)
    EXPECT_EQ(sketch->estimate(stream.keys[i]), i % 2 == 0 ? 0 : stream.counts[i]);
}

TEST(Spectral, RefusesToTakeBackMoreThanCanHaveCome) {
  for (const char* rule : {"minimum-selection", "recurring-minimum"}) {
    const auto sketch = spectral(rule, "m=1000,k=4");
    sketch->add(1, 3);
    const auto before = cells(*sketch);
    expect_refusal(ErrorCode::Config, "came at most 3 times", [&] { sketch->remove(1, 4); });
    expect_refusal(ErrorCode::Config, "came at most 0 times", [&] { sketch->remove(2); });
    EXPECT_EQ(cells(*sketch), before);
    EXPECT_EQ(sketch->total(), 3u);
  }
}

TEST(Spectral, RefusesRemovalWithMinimalIncreaseAndSaysWhy) {
  const auto sketch = spectral("minimal-increase", "m=1000,k=4");
  sketch->add(1);
  const auto before = cells(*sketch);
  expect_refusal(ErrorCode::Unsupported, "too small", [&] { sketch->remove(1); });
  EXPECT_EQ(cells(*sketch), before);
}

TEST(Spectral, MergedWithMinimumSelectionEqualsTheSketchOfTheJoinedStream) {
  const ZipfStream a(5000, 1.0, 50000, 6), b(5000, 0.7, 50000, 8);
  for (const char* bits : {"8", "16", "32", "64"}) {
    const std::string rest = std::string("m=20000,k=4,bits=") + bits;
    const auto left = spectral("minimum-selection", rest);
    const auto right = spectral("minimum-selection", rest);
    const auto joined = spectral("minimum-selection", rest);
    add_all(*left, a), add_all(*joined, a);
    add_all(*right, b), add_all(*joined, b);
    left->merge(*right);
    EXPECT_EQ(cells(*left), cells(*joined)) << bits;
    EXPECT_EQ(left->total(), joined->total());
    EXPECT_EQ(left->health().fill, joined->health().fill);
  }
}

TEST(Spectral, MergedWithMinimalIncreaseStillNeverUnderestimatesNorExceedsMinimumSelection) {
  const ZipfStream a(5000, 1.0, 50000, 6);
  const auto left = spectral("minimal-increase", "m=15000,k=4");
  const auto right = spectral("minimal-increase", "m=15000,k=4");
  const auto selection = spectral("minimum-selection", "m=15000,k=4");
  const auto all = a.digests();
  const std::span<const Digest> digests(all);
  left->add(digests.first(20000), {});
  right->add(digests.subspan(20000), {});
  selection->add(digests, {});
  left->merge(*right);
  EXPECT_EQ(errors(*left, a).under, 0);
  for (const Digest key : a.keys) EXPECT_LE(left->estimate(key), selection->estimate(key));
}

TEST(Spectral, RefusesToMergeWithRecurringMinimumAndSaysWhy) {
  const auto a = spectral("recurring-minimum", "m=1000,k=4");
  const auto b = spectral("recurring-minimum", "m=1000,k=4");
  expect_refusal(ErrorCode::Unsupported, "second filter only", [&] { a->merge(*b); });
}

TEST(Spectral, CountersStayAtTheirMaximumOnceTheyReachIt) {
  for (const char* rule : every_rule) {
    const auto sketch = spectral(rule, "m=1000,k=3,bits=8");
    EXPECT_EQ(sketch->add(1, 200), 200u) << rule;
    EXPECT_EQ(sketch->add(1, 200), 255u) << rule;
    EXPECT_EQ(sketch->add(1, ~std::uint64_t{0}), 255u) << rule;
    if (std::string(rule) == "minimal-increase") continue;
    sketch->remove(1, 300);
    EXPECT_EQ(sketch->estimate(1), 255u) << rule;
  }
}

TEST(Spectral, ReturnsFromAddWhatEstimateSaysAfterwards) {
  const ZipfStream stream(300, 1.0, 5000, 9);
  for (const char* rule : every_rule) {
    const auto sketch = spectral(rule, "m=200,k=6");  // probes of one key coincide as well
    for (const Digest digest : stream.digests()) {
      const std::uint64_t added = sketch->add(digest);
      ASSERT_EQ(added, sketch->estimate(digest)) << rule;
    }
    EXPECT_EQ(sketch->add(1, 0), sketch->estimate(1));
  }
}

TEST(Spectral, GivesInBatchesOfAnySizeWhatSingleCallsGive) {
  const auto digests = ZipfStream(3000, 1.0, 20000, 10).digests();
  for (const char* rule : every_rule)
    for (const std::uint32_t shards : {1u, 3u}) {
      const std::string spec = std::string("spectral:m=5000,k=4,rule=") + rule;
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

TEST(Spectral, StatesTheChanceThatAStrangerSeemsToHaveCome) {
  const ZipfStream stream(20000, 0.5, 100000, 11);
  Draws strangers(99);
  constexpr int asked = 200000;
  for (const char* rule : every_rule) {
    const auto sketch = spectral(rule, "m=60000,k=3");
    add_all(*sketch, stream);
    int positive = 0;
    for (int i = 0; i < asked; ++i) positive += sketch->estimate(strangers.next()) > 0;
    const double fpr = sketch->health().fpr;
    EXPECT_NEAR(positive / double{asked}, fpr, 3 * std::sqrt(fpr * (1 - fpr) / asked)) << rule;
  }
}

TEST(Spectral, IsSizedLikeABloomFilterWhenTheKeysAreKnown) {
  const auto sketch = make_sketch("spectral", {.fpr = 0.01, .keys = 10000, .seed = 7});
  EXPECT_EQ(sketch->parameters(), "m=95851,k=7,rule=minimum-selection,bits=32");
  expect_refusal(ErrorCode::Config, "needs a size", [] { make_sketch("spectral", seeded); });
  expect_refusal(ErrorCode::Config, "cannot recur",
                 [] { make_sketch("spectral:m=99,k=1,rule=recurring-minimum", seeded); });
}

TEST(Spectral, RefusesRegistersThatDoNotFitTheCounters) {
  const Spectral::Shape shape{1000, 4, Spectral::Rule::RecurringMinimum, Width::Bits16};
  std::vector<std::uint64_t> memory(Spectral::bytes(shape) / 8 + 1);
  Spectral sketch(shape, reinterpret_cast<std::byte*>(memory.data()), RecordRandom(1));
  for (Digest digest = 0; digest < 500; ++digest) {
    Spectral::Target target;
    sketch.locate(mix(digest, 0), target);
    sketch.add(target, 1);
  }
  EXPECT_NO_THROW(sketch.verify());
  for (int forged = 0; forged < 2; ++forged) {
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
