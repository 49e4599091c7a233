// The slides' experiments at a small scale.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "chance.hpp"
#include "lab/running.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

TEST(LabSlides, ABloomFilterShowsTheFprOfTheFormula) {
  const Results results = run("bloom-sizing", at(0.2, 5));
  for (const int bits : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16})
    for (int k = 1; k <= 8; ++k) {
      const Mean mean = results.mean("m = " + std::to_string(bits) + " n", "bloom", "fpr", k);
      ASSERT_EQ(mean.seeds, 5u);
      const double formula = std::pow(1 - std::exp(-1.0 * k / bits), k);
      // Where few are seen, five seeds tell less of the error than the count itself.
      const double error = std::max(mean.error, std::sqrt(formula / (5 * 200'000)));
      EXPECT_NEAR(mean.value, formula, std::max(0.03 * formula, 3 * error)) << bits << " " << k;
    }
}

TEST(LabSlides, ACompressedBloomFilterIsBetterForTheSameBytes) {
  const Results results = run("compressed-bloom", at(0.2, 5));
  for (const int bits : {4, 6, 8, 10, 12, 16}) {
    const std::string row = std::to_string(bits) + " bits a key";
    const Mean plain = results.mean(row, "plain", "fpr");
    for (const char* filter : {"plain", "2 times the memory", "8 times the memory", "64 MiB"}) {
      const Mean fpr = results.mean(row, filter, "fpr");
      const double predicted = results.mean(row, filter, "predicted").value;
      const double error = std::max(fpr.error, std::sqrt(predicted / (5 * 400'000)));
      EXPECT_NEAR(fpr.value, predicted, std::max(0.03 * predicted, 3 * error)) << row << filter;
      EXPECT_NEAR(results.mean(row, filter, "wire").value, bits, 0.1 * bits) << row << filter;
    }
    EXPECT_LT(results.mean(row, "64 MiB", "fpr").value + 3 * plain.error, plain.value) << row;
  }
}

TEST(LabSlides, MinimumSelectionErrsAsABloomFilterAndTheOtherRulesLess) {
  const Results results = run("spectral", at(0.5, 5));
  ASSERT_EQ(results.rows().size(), 6u);
  for (const std::string& row : results.rows()) {
    const auto wrong = [&](const char* rule) { return results.mean(row, rule, "wrong"); };
    const Mean selection = wrong("minimum selection"), predicted = wrong("predicted");
    const double error = std::max(selection.error, std::sqrt(predicted.value / (5 * 9'000)));
    EXPECT_NEAR(selection.value, predicted.value, std::max(0.03 * predicted.value, 3 * error))
        << row;
    EXPECT_LE(wrong("minimal increase").value, selection.value) << row;
    EXPECT_LE(wrong("recurring minimum").value, selection.value) << row;
    EXPECT_GE(wrong("recurring minimum, same bytes").value, selection.value) << row;
    for (const char* rule : {"minimum selection", "minimal increase"})
      EXPECT_EQ(results.mean(row, rule, "too small").value, 0) << row;
  }
}

TEST(LabSlides, AReservoirHoldsEveryRecordWithTheSameProbabilityAtEveryLength) {
  const Results results = run("reservoir", at(0.5, 3));
  double before = 50;
  for (const int length : {51, 100, 200, 500, 1000, 2000, 5000}) {
    const std::string row = "N = " + std::to_string(length);
    const Mean statistic = results.mean(row, "reservoir", "chi-square");
    ASSERT_EQ(statistic.seeds, 3u);
    EXPECT_GT(chi_square_p(3 * statistic.value, 3 * (length - 1.0)), 0.001) << row;
    // Records of one sample push each other out, so that their number varies less than this.
    const double kept = before / length;
    EXPECT_NEAR(results.mean(row, "reservoir", "kept").value, kept,
                3 * std::sqrt(kept * (1 - kept) / (3 * 2000 * 50.0)))
        << row;
    before = length;
  }
  EXPECT_EQ(results.mean("N = 50", "reservoir", "held", 0.05).value, 1);
}

TEST(LabSlides, ABiasedReservoirForgetsByTheExponentialLaw) {
  const Results results = run("reservoir", at(0.5, 3));
  const Mean statistic = results.mean("biased", "biased-reservoir", "chi-square");
  EXPECT_GT(chi_square_p(3 * statistic.value, 3 * 20), 0.001);
}

TEST(LabSlides, NameTheLeastScale) {
  for (const auto& [name, least] : {std::pair{"bloom-sizing", "0.01"},
                                    {"compressed-bloom", "0.01"},
                                    {"spectral", "0.05"},
                                    {"reservoir", "0.05"}}) {
    try {
      find_experiment(name).parts(at(0.001, 1));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(std::string("the least is ") + least),
                std::string::npos);
    }
  }
}

}  // namespace
}  // namespace weir::lab
