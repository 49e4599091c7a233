// Law 4: what a filter shows is what it predicted, within 5 % or three standard errors, on the
// whole of a uniform stream and in the steady state; and its live FPR is what strangers meet.
#include <cmath>

#include "laws/every_structure.hpp"

namespace weir::laws {
namespace {

struct Rate {
  std::uint64_t events = 0, of = 0;
  [[nodiscard]] double value() const {
    return of == 0 ? 0 : static_cast<double>(events) / static_cast<double>(of);
  }
};

// Within 5 % of the prediction or three standard errors of a count with that probability.
void expect_rate(const char* what, const Rate& measured, double predicted) {
  if (measured.of == 0) return;
  const double error =
      std::sqrt(std::max(predicted * (1 - predicted), 0.0) / static_cast<double>(measured.of));
  EXPECT_NEAR(measured.value(), predicted, std::max(0.05 * predicted, 3 * error)) << what;
}

struct Measured {
  Rate fpr, fnr;
};

Measured measure(Filter& filter, const StreamModel& model, std::uint64_t seed) {
  const auto universe = static_cast<std::uint64_t>(model.universe);
  std::vector<bool> met(universe);
  Draws draws(mix(seed, 7));
  Measured m;
  constexpr std::size_t batch = 4096;
  std::vector<Digest> digests(batch);
  std::vector<std::uint32_t> weights(batch);
  std::vector<Verdict> verdicts(batch);
  std::vector<std::uint64_t> keys(batch);
  for (std::uint64_t done = 0; done < model.records;) {
    const auto n = std::min<std::uint64_t>(batch, model.records - done);
    for (std::size_t i = 0; i < n; ++i) {
      keys[i] = draws.below(universe);
      digests[i] = mix(keys[i], mix(seed, 5));
      weights[i] = static_cast<std::uint32_t>(1 + mix(keys[i], 3) % 7);  // fixed a key
    }
    filter.observe(std::span(digests).first(n), std::span(weights).first(n),
                   std::span(verdicts).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      const bool repeat = met[keys[i]], seen = verdicts[i] == Verdict::Seen;
      met[keys[i]] = true;
      if (done + i < model.skip) continue;
      Rate& rate = repeat ? m.fnr : m.fpr;
      rate.of += 1;
      rate.events += repeat != seen;
    }
    done += n;
  }
  return m;
}

void expect_truth(const std::string& spec, const Request& request, StreamModel model) {
  SCOPED_TRACE(spec + " N=" + std::to_string(model.records) +
               " U=" + std::to_string(model.universe) + " skip=" + std::to_string(model.skip));
  model.importance.assign(7, 1.0);
  const auto filter = make_filter(spec, request);
  const Prediction predicted = filter->predict(model);
  const Measured measured = measure(*filter, model, 99);
  expect_rate("FPR", measured.fpr, predicted.fpr);
  expect_rate("FNR", measured.fnr, predicted.fnr);
  // Where nearly every repeat is missed, those that are caught say more.
  expect_rate("caught", {measured.fnr.of - measured.fnr.events, measured.fnr.of},
              1 - predicted.fnr);
  const Health health = filter->health();
  const auto cells = static_cast<double>(filter->payload().size());  // at least a cell a byte
  EXPECT_NEAR(health.fill, predicted.fill,
              std::max(0.05 * predicted.fill,
                       3 * std::sqrt(predicted.fill * (1 - predicted.fill) / cells)));
  EXPECT_EQ(health.records, model.records);

  // The live FPR, against strangers.
  Rate strangers;
  for (std::uint64_t i = 0; i < 400'000; ++i) {
    strangers.events += filter->contains(mix(i, 0x57a93e5)) ? 1 : 0;
    strangers.of += 1;
  }
  expect_rate("live FPR", strangers, health.fpr);
}

class SlowTruth : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Every, SlowTruth, testing::ValuesIn(every_filter()), test_name);

constexpr Request tenth_megabyte = {.memory = 100 << 10, .fpr = 0.02, .seed = 5};

TEST_P(SlowTruth, OnAStreamThatFitsPredictionsHold) {
  expect_truth(GetParam(), tenth_megabyte, {.records = 150'000, .universe = 60'000});
}
TEST_P(SlowTruth, OnAStreamFarTooLargePredictionsHold) {
  expect_truth(GetParam(), tenth_megabyte, {.records = 1'000'000, .universe = 900'000});
}
TEST_P(SlowTruth, WithShardsPredictionsHold) {
  Request sharded = tenth_megabyte;
  sharded.shards = 4;
  expect_truth(GetParam(), sharded, {.records = 300'000, .universe = 200'000});
}
TEST_P(SlowTruth, WhenForgettingInTheSteadyStatePredictionsHold) {
  if (!find_structure(GetParam())->forgets) {
    // The others have no steady state: they must say that they fill up.
    const auto filter = make_filter(GetParam(), tenth_megabyte);
    EXPECT_GT(filter->predict({.records = 100'000'000, .universe = 1e12}).fill, 0.999);
    return;
  }
  expect_truth(GetParam(), tenth_megabyte,
               {.records = 4'000'000, .universe = 1'500'000, .skip = 2'500'000});
  expect_truth(GetParam(), tenth_megabyte,
               {.records = 3'000'000, .universe = 50'000, .skip = 2'000'000});
}

class SlowTruthOfModes : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(
    Every, SlowTruthOfModes,
    testing::Values("weir:a=0", "weir:e=1", "weir:imax=7", "weir:a=2", "weir:a=2,e=3",
                    "weir:n=60,B=100", "weir:n=24,B=300", "rsbf:mode=text", "rsbf:k=1",
                    "rsbf:k=2,mode=text,pstar=0.2", "bsbf:k=3", "bsbf:k=1", "bsbfsd:k=2",
                    "rlbsbf:k=4", "qht:b=2", "qht:b=8", "qht:b=4,f=5", "stable:Max=3,K=3",
                    "stable:Max=7,K=2,P=30", "ibf-2c:M=15,K=3", "ibf-mc:P=30", "ibf-mc:K=2,P=3",
                    "apbf:refresh=no", "apbf:count=insertions,refresh=no", "apbf:k=4,l=3",
                    "apbf:k=5,l=2,g=9000", "apbf:k=9,l=1,refresh=no,g=20000", "a2:count=records",
                    "a2:refresh=no", "a2:count=records,refresh=no", "a2:k=3,g=50000",
                    "blocked-bloom:k=3", "blocked-bloom:k=8", "blocked-bloom:k=11",
                    "blocked-bloom:k=16"),
    test_name);

TEST_P(SlowTruthOfModes, HoldsForSeveralParameters) {
  const std::string spec = GetParam();
  expect_truth(spec, tenth_megabyte, {.records = 400'000, .universe = 150'000});
  if (find_structure(spec.substr(0, spec.find(':')))->forgets)
    expect_truth(spec, tenth_megabyte,
                 {.records = 3'000'000, .universe = 800'000, .skip = 2'000'000});
}

}  // namespace
}  // namespace weir::laws
