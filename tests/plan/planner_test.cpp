// What the planner predicts is what a run then shows: within 10 %, or three standard errors.
#include "plan/planner.hpp"
#include "lab/real_streams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <unordered_set>

#include "core/bits.hpp"
#include "core/catalog.hpp"
#include "plan/stream_text.hpp"

namespace weir {
namespace {

struct Counted {
  double firsts = 0, repeats = 0, false_seen = 0, false_new = 0;
};

// The plan's filter, really made, against the exact answer.
Counted run(const Candidate& plan, std::uint64_t records,
            const std::function<std::uint64_t()>& next) {
  Request request = plan.request;
  request.seed = 7;
  const FilterPtr filter = make_filter(plan.spec, request);
  EXPECT_EQ(filter->memory(), plan.bytes);
  std::unordered_set<std::uint64_t> met;
  Counted n;
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::uint64_t key = next();
    const bool seen = filter->observe(mix(key, 99)) == Verdict::Seen;
    const bool before = !met.insert(key).second;
    (before ? n.repeats : n.firsts) += 1;
    n.false_seen += !before && seen;
    n.false_new += before && !seen;
  }
  return n;
}

void expect_near(const char* what, double predicted, double errors, double of) {
  const double measured = errors / of;
  const double error = std::sqrt(std::max(predicted * (1 - predicted), 1 / of) / of);
  EXPECT_NEAR(predicted, measured, std::max(0.1 * measured, 3 * error)) << what;
}
void expect_as_planned(const Candidate& plan, const Counted& n) {
  SCOPED_TRACE(plan.spec + ":" + plan.parameters);
  ASSERT_TRUE(plan.fnr.has_value());
  expect_near("FPR", plan.fpr, n.false_seen, n.firsts);
  expect_near("FNR", *plan.fnr, n.false_new, n.repeats);
}

// Keys with probabilities as 1/rank^s.
std::function<std::uint64_t()> zipf(std::uint64_t universe, double s) {
  auto sums = std::make_shared<std::vector<double>>();
  double sum = 0;
  for (std::uint64_t i = 1; i <= universe; ++i)
    sums->push_back(sum += std::pow(static_cast<double>(i), -s));
  return [sums, draws = Draws(3)]() mutable {
    const double at = draws.unit() * sums->back();
    return static_cast<std::uint64_t>(std::upper_bound(sums->begin(), sums->end(), at) -
                                      sums->begin());
  };
}

// Of every record's key the next record is due after a distance, or never.
class ByDistance {
 public:
  ByDistance(double again, std::function<double(double)> quantile)
      : again_(again), quantile_(std::move(quantile)) {}
  std::uint64_t operator()() {
    ++now_;
    std::uint64_t key = 0;
    if (!due_.empty() && due_.top().first <= now_) {
      key = due_.top().second;
      due_.pop();
    } else {
      key = next_key_++;
    }
    if (draws_.unit() < again_)
      due_.emplace(now_ + static_cast<std::uint64_t>(std::max(1.0, quantile_(draws_.unit()))), key);
    return key;
  }

 private:
  using Due = std::pair<std::uint64_t, std::uint64_t>;
  double again_;
  std::function<double(double)> quantile_;
  std::uint64_t now_ = 0, next_key_ = 0;
  Draws draws_{5};
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

Wish wish(std::uint64_t memory, std::uint64_t records, const char* stream) {
  Wish w;
  w.memory = memory;
  w.fpr = 0.01;
  w.records = records;
  w.stream = parse_stream(stream);
  return w;
}

TEST(Planner, IsRightAboutUniformStreams) {
  const Wish w = wish(128 << 10, 2'000'000, "uniform:U=400000");
  int runs = 0;
  for (const Candidate& c : at_memory(w, w.memory, 0.01))
    for (const char* name : {"weir", "qht", "stable", "blocked-bloom"})
      if (c.spec == name) {
        Draws draws(1);
        expect_as_planned(c, run(c, w.records, [&] { return draws.below(400'000); }));
        ++runs;
      }
  EXPECT_EQ(runs, 4);
}

TEST(Planner, IsRightAboutZipfStreams) {
  for (const char* s : {"0.7", "1", "1.2"}) {
    const Wish w = wish(64 << 10, 2'000'000, ("zipf:U=300000,s=" + std::string(s)).c_str());
    const Plan plan = make_plan(w);
    EXPECT_EQ(plan.best.spec, "weir");
    expect_as_planned(plan.best, run(plan.best, w.records, zipf(300'000, std::atof(s))));
  }
}

TEST(Planner, IsRightAboutStreamsByDistance) {
  const auto is_right = [](const char* stream, const std::function<std::uint64_t()>& next) {
    const Wish w = wish(64 << 10, 2'000'000, stream);
    const Plan plan = make_plan(w);
    EXPECT_EQ(plan.best.spec, "weir");
    expect_as_planned(plan.best, run(plan.best, w.records, next));
  };
  is_right("geometric:mean=30000,again=0.4",
           ByDistance(0.4, [](double u) { return -30000 * std::log(1 - u); }));
  is_right("pareto:least=1000,shape=1.1,again=0.7",
           ByDistance(0.7, [](double u) { return 1000 * std::pow(1 - u, -1 / 1.1); }));
  is_right("fixed:d=30000,again=0.3", ByDistance(0.3, [](double) { return 30000.0; }));
}

TEST(Planner, FindsTheLeastMemoryForAnFnr) {
  Wish w = wish(0, 2'000'000, "geometric:mean=30000,again=0.4");
  w.fnr = 0.1;
  const Plan plan = make_plan(w);
  EXPECT_LE(*plan.best.fnr, 0.1);
  EXPECT_GT(*plan.best.fnr, 0.09);
  const auto n =
      run(plan.best, w.records, ByDistance(0.4, [](double u) { return -30000 * std::log(1 - u); }));
  expect_near("FNR", 0.1, n.false_new, n.repeats);
}

TEST(Planner, PlansTheSameLargeAndSmall) {
  // Beyond 32 MiB a part stands for the whole.
  const auto at = [](double times) {
    Wish w;
    w.fpr = 0.01;
    w.records = static_cast<std::uint64_t>(2e6 * times);
    w.stream = parse_stream("zipf:U=" + std::to_string(300'000 * times) + ",s=0.5");
    w.memory = size_structure("weir", {.memory = 1 << 20}).entry->overhead(1) + budget_reserve +
               static_cast<std::uint64_t>(times * (64 << 10));
    return *make_plan(w).best.fnr;
  };
  EXPECT_NEAR(at(1), at(10'000), 0.01 * at(1));
}

void is_right_about(const char* name, std::size_t sampled, std::uint64_t memory) {
  std::vector<std::uint64_t> keys;
  const Digester digester = Digester::from_seed(HashKind::Xxh3, 1);
  for (const std::string& line : test::real_stream(name)) keys.push_back(digester(line));
  if (keys.empty()) GTEST_SKIP() << "the real streams are not beside the project";
  StreamSample sample(sampled);
  sample.add(keys);
  sample.finish();
  EXPECT_LT(sample.share(), 1) << "a part of the keys stands for all";
  Wish w;
  w.memory = memory;
  w.fpr = 0.01;
  w.sample = &sample;
  const Plan plan = make_plan(w);
  EXPECT_EQ(plan.best.spec, "weir");
  std::size_t at = 0;
  const Counted n = run(plan.best, keys.size(), [&] { return keys[at++]; });
  EXPECT_NEAR(sample.distinct(), n.firsts, 0.05 * n.firsts);
  expect_as_planned(plan.best, n);
}

TEST(Planner, IsRightAboutDatabaseReadsFromAPartOfTheirKeys) {
  is_right_about("orm-night", 1 << 20, 32 << 10);
}

TEST(Planner, ASampleIsOfFixedSizeAndOfWholeKeys) {
  StreamSample sample(10'000);
  Draws draws(1);
  std::vector<Digest> digests(1'000'000);
  for (Digest& digest : digests) digest = mix(draws.below(50'000), 3);
  sample.add(digests);
  sample.finish();
  EXPECT_LT(sample.share(), 0.011);
  EXPECT_EQ(sample.records(), 1'000'000u);
  EXPECT_NEAR(sample.distinct(), 50'000, 3 * 50'000 / std::sqrt(50'000 * sample.share()));
  EXPECT_NEAR(sample.distance(0.5), 50'000 * std::log(2), 4000);
}

TEST(Planner, ASampleOfOneKeyIsNotTheEnd) {
  StreamSample sample(1000);
  sample.add(std::vector<Digest>(5000, 42));
  sample.finish();
  Wish w;
  w.memory = 64 << 10;
  w.sample = &sample;
  EXPECT_NO_THROW(make_plan(w));
}

TEST(Planner, FiltersWithoutAModelOfAStreamSaySo) {
  StreamModel stream = parse_stream("zipf:U=1000,s=1");
  stream.records = 1000;
  for (const char* name : {"stable", "rsbf", "bsbf", "qht", "apbf", "a2", "ibf-h"}) {
    const FilterPtr filter = make_filter(name, {.memory = 64 << 10, .seed = 1});
    try {
      static_cast<void>(filter->predict(stream));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unsupported) << name;
    }
  }
}

TEST(Planner, StreamsAsTextAreCheckedWordForWord) {
  for (const char* text : {"", "uniform", "uniform:U=0", "uniform:U=10,s=1", "zipf:U=10",
                           "zipf:U=1e99,s=1", "fixed:d=5,again=1", "normal:mean=1"})
    EXPECT_THROW(parse_stream(text), Error) << text;
  double sum = 0, keys = 0;
  for (const Popularity& p : parse_stream("zipf:U=12345,s=1.3").popularity)
    sum += p.keys * p.rate, keys += p.keys;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(keys, 12345);
}

}  // namespace
}  // namespace weir
