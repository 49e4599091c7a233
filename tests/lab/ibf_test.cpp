// The IBF paper's experiments at a small scale: the streams are what they say, and the claims that
// must come out do.
#include <gtest/gtest.h>

#include <unistd.h>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/bits.hpp"
#include "follow.hpp"
#include "ibf_runs.hpp"
#include "lab/real_streams.hpp"
#include "lab/running.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

constexpr Favour every_favour[] = {Favour::None, Favour::Important, Favour::Unimportant};

TEST(LabImportance, AsManyRecordsRepeatAsAskedFor) {
  constexpr std::uint64_t n = 100'000;
  for (const Favour favour : every_favour)
    for (const double repeats : {0.1, 0.3, 0.5}) {
      const auto stream = importance_stream(favour, universe_for(favour, repeats, n), 1);
      const auto oracle = numbered_oracle(stream->universe());
      std::vector<std::uint64_t> keys(n);
      std::vector<std::uint32_t> weights(n);
      std::vector<std::uint8_t> first(n);
      stream->fill(keys, weights);
      oracle->observe(keys, first);
      double repeated = n;
      for (const std::uint8_t f : first) repeated -= f;
      // Repeats are counts of hardly dependent events.
      EXPECT_NEAR(repeated / n, repeats, 3 * std::sqrt(repeats / n));
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(weights[i], 1 + keys[i] % 50);
    }
}

TEST(LabImportance, RecordsFollowTheImportanceOfTheirKeys) {
  constexpr std::uint64_t n = 200'000;
  for (const Favour favour : every_favour) {
    std::vector<std::uint64_t> keys(n);
    std::vector<std::uint32_t> weights(n);
    importance_stream(favour, 500'000, 3)->fill(keys, weights);
    double counts[51] = {};
    for (const std::uint32_t weight : weights) ++counts[weight];
    const double ratio = favour == Favour::None ? 1 : favour == Favour::Important ? 4 : 0.25;
    const double error = ratio * std::sqrt(1 / counts[40] + 1 / counts[10]);
    EXPECT_NEAR(counts[40] / counts[10], ratio, 3 * error);
  }
}

TEST(LabImportance, AWeightIsCappedOrRanked) {
  Trace trace;
  for (std::uint32_t key = 0; key < 100; ++key) {  // weights 1 to 90, and ten of a million
    trace.keys.push_back(key);
    trace.weights.push_back(key < 90 ? key + 1 : 1'000'000);
  }
  trace.keys.push_back(0), trace.weights.push_back(1);
  trace.distinct = 100;
  const Trace ranked = with_importance(trace, Ranking::Percentile);
  EXPECT_EQ(ranked.weights[0], 1u);
  EXPECT_EQ(ranked.weights[49], 25u);
  EXPECT_EQ(ranked.weights[100], 1u);
  for (std::uint32_t& weight : trace.weights) weight = std::min(weight, 100u);
  const Trace capped = with_importance(trace, Ranking::Proportion);
  EXPECT_EQ(capped.weights[0], 1u);
  EXPECT_EQ(capped.weights[49], 25u);
  EXPECT_EQ(capped.weights[95], 50u);
}

TEST(LabIbf, WhateverMcCallsSeen2cAndSbfCallSeen) {
  constexpr std::uint64_t n = 60'000;
  const auto verdicts = [](const std::string& spec) {
    std::vector<Verdict> all;
    const auto stream = importance_stream(Favour::None, 80'000, 4);
    const auto oracle = numbered_oracle(stream->universe());
    const FilterPtr filter = make_filter(spec, {.seed = 4});
    follow(*filter, *stream, *oracle, n, 4, [&](const Batch& batch) {
      all.insert(all.end(), batch.verdicts.begin(), batch.verdicts.end());
    });
    return all;
  };
  const auto sbf = verdicts("stable:m=8738,K=5,P=10,Max=7");
  const auto two = verdicts("ibf-2c:m=8738,K=5,P=10,M=7,imax=50");
  const auto many = verdicts("ibf-mc:m=8738,K=5,P=10,M=7,imax=50");
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_LE(many[i], two[i]) << i;
    ASSERT_LE(two[i], sbf[i]) << i;
  }
}

TEST(LabIbf, FalsePositivesFallAndFalseNegativesRise) {
  const Setting setting = at(0.1, 3);
  const Results results = run("ibf-table-2", setting);
  ASSERT_EQ(results.rows().size(), 9u);
  const Section section = find_experiment("ibf-table-2").present(setting, results);
  EXPECT_NE(section.text[0].find("only the synthetic"), std::string::npos);
  int judged = 0;
  for (const auto& row : section.tables[1].rows) {
    if (row[0] == "FP falls: BF, SBF, 2C, MC" || row[0] == "FN rises: BF, SBF, 2C, MC") {
      EXPECT_EQ(row[2], "yes") << row[0] << ": " << row[1] << ": " << row[3];
      ++judged;
    }
  }
  EXPECT_EQ(judged, 6);
  for (const std::string& row : results.rows())
    for (const char* filter : {"IBF-2C", "IBF-MC"}) {
      const Mean fn = results.mean(row, filter, "FN"), wfn = results.mean(row, filter, "wFN");
      const double error = 3 * std::hypot(fn.error, wfn.error);
      if (row.find("likelier") == std::string::npos) {
        EXPECT_LT(wfn.value, fn.value + error) << row << filter;
      } else {  // more of the important records are repeats, so more can be missed
        EXPECT_GT(wfn.value, fn.value - error) << row << filter;
      }
    }
}

TEST(LabIbf, TheFnRateOf2cAndMcFallsAsImportanceRises) {
  const Results results = run("ibf-fig-11", at(0.2, 3));
  for (const std::string& row : results.rows()) {
    const auto fnr = [&](const char* filter, int fifth) {
      return results.mean(row, filter, "FNR in fifth", fifth);
    };
    for (const char* filter : {"IBF-2C", "IBF-MC"}) {
      const Mean low = fnr(filter, 1), high = fnr(filter, 5);
      EXPECT_GT(low.value - high.value, 3 * std::hypot(low.error, high.error)) << row << filter;
    }
    const Mean low = fnr("SBF", 1), high = fnr("SBF", 5);  // does not know importance
    const double repeats = 0.2 * 0.1 * 3 * 200'000 / 5;    // in a fifth, at least
    EXPECT_NEAR(low.value, high.value, 3 * std::sqrt(2 * 0.25 / repeats)) << row;
  }
}

TEST(LabIbf, AtEqualFalsePositivesMcMissesFewerImportantRecordsThanSbf) {
  const Results results = run("ibf-fig-11", at(0.2, 3));
  for (const std::string& row : results.rows()) {
    const auto mean = [&](const char* filter, const char* what, int x) {
      return results.mean(row, filter, what, x);
    };
    EXPECT_NEAR(mean(sbf_like_mc, "FP", 0).value, mean("IBF-MC", "FP", 0).value, 1e-6);
    const Mean theirs = mean(sbf_like_mc, "FN in fifth", 5),
               ours = mean("IBF-MC", "FN in fifth", 5);
    if (row.find("10 %") != std::string::npos) continue;  // too few repeats at this scale
    EXPECT_LT(ours.value, theirs.value - 3 * std::hypot(ours.error, theirs.error)) << row;
  }
}

TEST(LabIbf, SaysWhatItNeedsAndWhatIsTooSmall) {
  const auto refusal = [](const std::string& name, const Setting& setting) {
    try {
      find_experiment(name).parts(setting);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  EXPECT_NE(refusal("ibf-fig-5", at(1, 1)).find("--trace"), std::string::npos);
  for (const char* name : {"ibf-table-2", "ibf-fig-10", "ibf-fig-18"})
    EXPECT_NE(refusal(name, at(0.001, 1)).find("the least is 0.02"), std::string::npos);
  Setting nowhere = at(1, 1);
  nowhere.traces = {"/nowhere/at/all"};
  EXPECT_NE(refusal("ibf-table-2", nowhere).find("cannot read"), std::string::npos);
}

TEST(LabIbf, TheClaimsHoldOnTheCdnRequests) {
  const auto lines = test::real_lines("cdn-requests.tsv");
  if (lines.empty()) GTEST_SKIP() << "the real streams are not beside the project";
  const auto path =
      std::filesystem::temp_directory_path() / ("weir-cdn-" + std::to_string(::getpid()) + ".tsv");
  {
    std::ofstream out(path);
    for (const std::string& line : lines) out << line;
  }
  Setting setting = at(1, 2);
  setting.traces = {path};
  for (const char* name : {"ibf-fig-5", "ibf-fig-8"}) {
    const Results results = run(name, setting);
    ASSERT_EQ(results.rows().size(), 1u);
    const std::string row = results.rows()[0];
    const auto value = [&](const char* filter, const char* what, int x = 0) {
      return results.mean(row, filter, what, x).value;
    };
    EXPECT_GT(value("BF", "FP"), value("SBF", "FP"));
    EXPECT_GT(value("SBF", "FP"), value("IBF-2C", "FP"));
    EXPECT_GT(value("IBF-2C", "FP"), value("IBF-MC", "FP"));
    EXPECT_LT(value("BF", "FN"), value("SBF", "FN"));
    EXPECT_LT(value("SBF", "FN"), value("IBF-2C", "FN"));
    EXPECT_LT(value("IBF-2C", "FN"), value("IBF-MC", "FN"));
    for (const char* filter : {"IBF-2C", "IBF-MC"}) {
      EXPECT_LT(value(filter, "wFN"), value(filter, "FN"));
      EXPECT_LT(value(filter, "FNR in fifth", 5), value(filter, "FNR in fifth", 1));
    }
    EXPECT_LT(value("IBF-MC", "wFN"), value(sbf_like_mc, "wFN"));
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace weir::lab
