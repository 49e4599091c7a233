// The filters that remember a window (apbf, a2), against an exact account of when keys came.
#include <rapidcheck.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <unordered_map>

#include "laws/every_structure.hpp"
#include "plan/a2_model.hpp"
#include "plan/apbf_model.hpp"
#include "weir/snapshot.hpp"

namespace weir {
namespace {

// Parameter `name` of a structure.
std::string parameter(const Structure& structure, const std::string& name) {
  const std::string all = "," + structure.parameters() + ",";
  const std::size_t at = all.find("," + name + "=") + name.size() + 2;
  return all.substr(at, all.find(',', at) - at);
}
std::uint64_t number(const Structure& structure, const std::string& name) {
  return std::stoull(parameter(structure, name));
}
// Counted records for which a key is remembered for sure.
std::uint64_t guaranteed(const Structure& structure) {
  const std::uint64_t g = number(structure, "g");
  return structure.info().name == std::string("a2") ? g : g * number(structure, "l");
}

// When each key was remembered last, in counted records.
class Oracle {
 public:
  explicit Oracle(const Structure& filter)
      : window_(guaranteed(filter)),
        count_insertions_(parameter(filter, "count") == "insertions"),
        refresh_(parameter(filter, "refresh") == "yes") {}
  // Whether the guarantee asks for Seen.
  [[nodiscard]] bool must_be_seen(Digest key) const {
    const auto last = last_.find(key);
    return last != last_.end() && clock_ - last->second <= window_;
  }
  // A record that the filter did not take in leaves the clock alone, if it counts insertions; how
  // often a2 takes in a repeat only the filter knows, so there every repeat may have counted.
  void note(Digest key, Verdict verdict) {
    const bool taken = refresh_ || verdict == Verdict::New;
    if (taken) last_[key] = clock_;
    if (!count_insertions_ || taken) ++clock_;
  }

 private:
  std::uint64_t window_;
  bool count_insertions_, refresh_;
  std::uint64_t clock_ = 0;
  std::unordered_map<Digest, std::uint64_t> last_;
};

std::vector<std::string> windows() {
  std::vector<std::string> specs;
  for (const char* shape :
       {"apbf:k=1,l=1,m=500,g=7", "apbf:k=3,l=2,m=900,g=40", "apbf:k=4,l=9,m=3000,g=1",
        "apbf:k=7,l=12,m=2044,g=100", "apbf:k=10,l=3,m=20000,g=500", "a2:k=1,m=300,g=5",
        "a2:k=4,m=9000,g=700", "a2:k=7,m=255,g=30", "a2:k=3,m=1000,g=1"})
    for (const char* how : {",count=records", ",count=insertions", ",count=records,refresh=no",
                            ",count=insertions,refresh=no"})
      specs.push_back(std::string(shape) + how);
  return specs;
}

class Window : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Every, Window, testing::ValuesIn(windows()), laws::test_name);

TEST_P(Window, NoKeyIsMissedWithinTheGuarantee) {
  EXPECT_TRUE(rc::check([&] {
    const auto filter = make_filter(GetParam(), {.seed = *rc::gen::arbitrary<std::uint64_t>()});
    Oracle oracle(*filter);
    const auto universe = *rc::gen::inRange<std::uint64_t>(1, 4000);
    const auto records = *rc::gen::inRange<std::size_t>(1, 6000);
    Draws draws(*rc::gen::arbitrary<std::uint64_t>());
    std::uint64_t asked = 0;
    for (std::size_t i = 0; i < records; ++i) {
      const Digest key = mix(draws.below(universe), 1);
      const bool must = oracle.must_be_seen(key);
      asked += must;
      RC_ASSERT(!must || filter->contains(key));
      const Verdict verdict = filter->observe(key);
      RC_ASSERT(!must || verdict == Verdict::Seen);
      oracle.note(key, verdict);
    }
    RC_CLASSIFY(asked > 0, "the guarantee was called upon");
  }));
}

TEST_P(Window, BatchesAndRestoredStatesKeepTheGuaranteeToo) {
  const auto single = make_filter(GetParam(), {.seed = 1});
  StructurePtr batched = make_structure(GetParam(), {.seed = 1});
  for (std::uint64_t round = 0; round < 60; ++round) {  // saved in the middle of sweeping as well
    const auto digests = laws::stream(round, 1 + round * 7 % 200, 900);
    ASSERT_EQ(laws::answers(*single, digests, 0), laws::answers(*batched, digests, 64));
    ASSERT_TRUE(laws::same_state(*single, *batched));
    batched = laws::reloaded(*batched);
    if (round % 13 == 0) single->advance(2), static_cast<Filter&>(*batched).advance(2);
  }
}

TEST(Apbf, AKeyIsGoneAfterOneShiftMoreThanTheWindow) {
  for (const char* spec : {"apbf:k=3,l=5,m=4096,g=0", "apbf:k=5,l=1,m=4096,g=0,refresh=no",
                           "apbf:k=1,l=4,m=4096,g=0", "apbf:k=9,l=30,m=999,g=50"}) {
    const auto filter = make_filter(spec, {.shards = 3, .seed = 1});
    const auto digests = laws::stream(1, 40, 1'000'000);
    for (const Digest digest : digests) filter->observe(digest);
    const auto held = [&] {
      return std::ranges::count_if(digests, [&](Digest d) { return filter->contains(d); });
    };
    for (std::uint64_t shifts = 0; shifts < number(*filter, "l"); ++shifts) {
      EXPECT_EQ(held(), std::ssize(digests)) << spec << " after " << shifts;
      filter->advance(1);
    }
    EXPECT_EQ(held(), std::ssize(digests)) << spec;
    filter->advance(1);
    EXPECT_EQ(held(), 0) << spec;
    filter->advance(static_cast<std::uint32_t>(number(*filter, "k")) - 1);
    EXPECT_EQ(filter->health().fill, 0) << spec;
  }
}

// In a full ring the key's last bits leave one by one: after l + j shifts k - j are left, and j
// slices must match by chance.
TEST(Apbf, WhatIsLeftOfAnOldKeyMatchesAsOftenAsTheFillsSay) {
  const auto filter = make_filter("apbf:k=6,l=4,m=200000,g=20000", {.seed = 3});
  std::uint64_t next = 0;
  const auto fill = [&](int generations) {
    for (int i = 0; i < generations * 20'000; ++i) filter->observe(mix(next++, 1));
  };
  fill(12);
  const std::uint64_t first = next;
  fill(5);  // and l + 1 shifts
  for (unsigned j = 1; j <= 6; ++j) {
    double match = 0;
    for (std::uint64_t i = 0; i < 20'000; ++i) match += filter->contains(mix(first + i, 1)) ? 1 : 0;
    // Slices of age l and l-1, ..., are full: k generations of 20,000 keys, or fewer.
    double fills[10];
    for (unsigned age = 0; age < 10; ++age)
      fills[age] = age >= 4 + j ? 1 : -std::expm1(-0.1 * std::min(age, 6U));
    const double chance = apbf_fpr(fills, 6);
    EXPECT_NEAR(match / 20'000, chance, 3 * std::sqrt(chance * (1 - chance) / 20'000) + 1e-4) << j;
    fill(1);
  }
}

TEST(Apbf, OnlyRecordsThatCountBringTheNextGenerationNearer) {
  const auto seen_after = [](const char* spec, int repeats) {
    const auto filter = make_filter(spec, {.seed = 1});
    filter->observe(mix(1, 1));
    for (int i = 0; i < repeats; ++i) filter->observe(mix(2, 1));
    return filter->contains(mix(1, 1));
  };
  EXPECT_TRUE(seen_after("apbf:k=4,l=2,m=4096,g=10", 19));
  EXPECT_FALSE(seen_after("apbf:k=4,l=2,m=4096,g=10", 29));
  EXPECT_FALSE(seen_after("apbf:k=4,l=2,m=4096,g=10,count=insertions", 29)) << "repeats are put in";
  EXPECT_FALSE(seen_after("apbf:k=4,l=2,m=4096,g=10,refresh=no", 29));
  EXPECT_TRUE(seen_after("apbf:k=4,l=2,m=4096,g=10,refresh=no,count=insertions", 100'000));
  EXPECT_TRUE(seen_after("apbf:k=4,l=2,m=4096,g=0", 100'000)) << "never by itself";
}

TEST(Apbf, ItsFprIsThePapersRecursion) {
  Draws draws(1);
  for (int round = 0; round < 50; ++round) {
    const auto k = static_cast<unsigned>(1 + draws.below(8)),
               l = static_cast<unsigned>(1 + draws.below(12));
    std::vector<double> r(k + l);
    for (double& fill : r)
      fill = draws.below(5) == 0 ? static_cast<double>(draws.below(2)) : draws.unit();
    const std::function<double(unsigned, unsigned)> F = [&](unsigned a, unsigned i) -> double {
      if (a == k) return 1;
      if (i + k - a > k + l) return 0;
      return r[i] * F(a + 1, i + 1) + (1 - r[i]) * F(0, i + 1);
    };
    std::vector<double> starts(l + 1);
    EXPECT_NEAR(apbf_fpr(r, k, starts), F(0, 0), 1e-12);
    double sum = 0;
    for (const double start : starts) sum += start;
    EXPECT_NEAR(sum, F(0, 0), 1e-12);
  }
}

TEST(Apbf, TakesTheLongestWindowAtTheRequestedFpr) {
  for (const double fpr : {0.1, 0.01, 0.0001}) {
    const auto filter = make_filter("apbf", {.memory = 1 << 20, .fpr = fpr});
    const std::uint64_t k = number(*filter, "k"), l = number(*filter, "l"),
                        g = number(*filter, "g");
    const auto m = static_cast<double>(number(*filter, "m"));
    const auto full = [&](std::uint64_t records) {
      return apbf_full_fpr(static_cast<unsigned>(k), static_cast<unsigned>(l), m,
                           static_cast<double>(records));
    };
    EXPECT_LE(full(g), fpr);
    EXPECT_GT(full(g + 1), fpr);
    for (const char* other : {"apbf:k=12", "apbf:l=10", "apbf:k=9,l=30", "apbf:l=63"}) {
      const auto rival = make_filter(other, {.memory = 1 << 20, .fpr = fpr});
      EXPECT_LE(guaranteed(*rival), l * g) << other;
    }
  }
}

TEST(A2, AKeyIsGoneAfterTwoSwaps) {
  for (const char* spec :
       {"a2:k=5,m=4096,g=0", "a2:k=5,m=4096,g=0,refresh=no", "a2:k=2,m=900,g=99"}) {
    const auto filter = make_filter(spec, {.shards = 2, .seed = 1});
    const auto digests = laws::stream(1, 40, 1'000'000);
    for (const Digest digest : digests) filter->observe(digest);
    const auto held = [&] {
      return std::ranges::count_if(digests, [&](Digest d) { return filter->contains(d); });
    };
    filter->advance(1);
    EXPECT_EQ(held(), std::ssize(digests)) << spec;
    filter->advance(1);
    EXPECT_EQ(held(), 0) << spec;
    EXPECT_EQ(filter->health().fill, 0) << spec;
  }
}

TEST(A2, ARepeatRenewsItsKeyUnlessToldOtherwise) {
  for (const bool refresh : {true, false}) {
    const auto filter =
        make_filter(std::string("a2:k=5,m=4096,g=0,refresh=") + (refresh ? "yes" : "no"));
    filter->observe(1);
    filter->advance(1);
    EXPECT_EQ(filter->observe(1), Verdict::Seen);
    filter->advance(1);
    EXPECT_EQ(filter->contains(1), refresh);
  }
}

TEST(A2, OnlyRecordsThatCountBringTheNextGenerationNearer) {
  const auto seen_after = [](const char* spec, int repeats) {
    const auto filter = make_filter(spec, {.seed = 1});
    filter->observe(mix(1, 1));
    for (int i = 0; i < repeats; ++i) filter->observe(mix(2, 1));
    return filter->contains(mix(1, 1));
  };
  EXPECT_TRUE(seen_after("a2:k=4,m=4096,g=10", 100'000))
      << "a repeat of the active buffer is not put in";
  EXPECT_TRUE(seen_after("a2:k=4,m=4096,g=10,count=records", 9));
  EXPECT_FALSE(seen_after("a2:k=4,m=4096,g=10,count=records", 19));
}

TEST(A2, TakesTheLongestWindowAtTheRequestedFpr) {
  for (const double fpr : {0.1, 0.01, 0.0001}) {
    const auto filter = make_filter("a2", {.memory = 1 << 20, .fpr = fpr});
    const auto m = static_cast<double>(number(*filter, "m"));
    const auto k = static_cast<unsigned>(number(*filter, "k"));
    const auto g = static_cast<double>(number(*filter, "g"));
    EXPECT_LE(a2_full_fpr(k, m, g), fpr);
    EXPECT_GT(a2_full_fpr(k, m, g + 1), fpr);
    for (unsigned other = 1; other <= 32; ++other)
      EXPECT_LE(static_cast<double>(a2_capacity(other, m, fpr)), g) << other;
  }
}

// The memory and the window of the refusal are those that do.
class Sizing : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Windows, Sizing, testing::Values("apbf", "a2"), laws::test_name);

TEST_P(Sizing, AWindowIsHeldAtTheLeastFprOrRefusedWithTheMemoryThatDoes) {
  const std::string& name = GetParam();
  const auto filter = make_filter(name + ":window=20000", {.memory = 1 << 20, .fpr = 0.01});
  EXPECT_GE(guaranteed(*filter), 20'000u);
  EXPECT_LT(filter->predict({.records = 1'000'000, .universe = 1e9}).fpr, 1e-6);
  EXPECT_EQ(make_filter(name, {.memory = 1 << 20, .fpr = 0.01, .keys = 20'000})->parameters(),
            filter->parameters());
  const auto sized = make_filter(name + ":window=1000000", {.fpr = 0.01});
  EXPECT_GE(guaranteed(*sized), 1'000'000u);
  EXPECT_THROW(
      make_filter(name + ":window=1000000", {.memory = sized->memory() / 50 * 49, .fpr = 0.01}),
      Error);
  for (const std::uint32_t shards : {1u, 4u}) {
    Request request = {.memory = 1 << 20, .fpr = 0.01, .keys = 10'000'000, .shards = shards};
    std::uint64_t held = 0, needed = 0;
    try {
      make_filter(name, request);
      FAIL() << "ten million records do not fit a megabyte";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Config);
      const std::string what = error.what();
      ASSERT_EQ(std::sscanf(what.c_str() + std::min(what.find("holds"), what.size()),
                            "holds a window of %lu records; a window of 10000000 records needs %lu",
                            &held, &needed),
                2)
          << what;
    }
    request.memory = needed;
    make_filter(name, request);
    request.memory = needed - needed / 50;
    EXPECT_THROW(make_filter(name, request), Error);
    request.memory = 1 << 20;
    request.keys = held;
    make_filter(name, request);
  }
  EXPECT_THROW(make_filter(name + ":window=100,g=7", {.memory = 1 << 20}), Error);
  EXPECT_THROW(make_filter(name), Error);
}

TEST(Generations, OtherFiltersDoNotAgeByGenerations) {
  const auto filter = make_filter("stable", {.memory = 1 << 16});
  try {
    filter->advance(1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
    EXPECT_STREQ(error.what(), "stable cannot age by generations; the apbf and a2 filters can");
  }
}

// A shard that is cleared is one that was just made, and the others keep what they have.
TEST(Clearing, MakesAShardAnew) {
  for (const StructureInfo* info : catalog()) {
    if (info->kind != Kind::Filter) continue;
    const Request request{.memory = 32 << 10, .shards = 3, .seed = 4};
    const FilterPtr used = make_filter(info->name, request),
                    whole = make_filter(info->name, request),
                    fresh = make_filter(info->name, request);
    Draws draws(1), again(1), strangers(2);
    for (int i = 0; i < 2000; ++i) {
      const Digest digest = draws.next();
      used->observe(digest), whole->observe(digest);
    }
    used->clear_shard(1);
    for (int i = 0; i < 2000; ++i) {
      const Digest digest = again.next();
      const bool kept = used->shard_of(digest) != 1 && whole->contains(digest);
      ASSERT_EQ(used->contains(digest), kept) << info->name;
    }
    for (int i = 0; i < 5000; ++i) {
      const Digest digest = strangers.next();
      if (used->shard_of(digest) == 1) {
        const Verdict expected = fresh->observe(digest);
        ASSERT_EQ(used->observe(digest), expected) << info->name;
      }
    }
  }
}

// What is told of a later time is what that time will show.
TEST_P(Window, ContainsAfterSaysWhatAdvancingWillShow) {
  const auto filter = make_filter(GetParam(), {.seed = 5});
  Draws draws(77);
  for (int i = 0; i < 400; ++i) {
    filter->observe(mix(draws.below(300), 1));
    if (i % 7 != 0) continue;
    const auto later = static_cast<std::uint32_t>(draws.below(14));
    const StructurePtr copy = copy_of(*filter);
    auto& aged = static_cast<Filter&>(*copy);
    aged.advance(later);
    for (std::uint64_t key = 0; key < 330; ++key)
      ASSERT_EQ(filter->contains_after(mix(key, 1), later), aged.contains(mix(key, 1)))
          << key << " after " << later;
  }
}

}  // namespace
}  // namespace weir
