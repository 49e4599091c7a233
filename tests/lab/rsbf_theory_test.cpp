// Which formulas of the RSBF paper's section 5 hold, and which do not, as the page says.
#include <gtest/gtest.h>

#include <cmath>

#include "experiment.hpp"
#include "runner.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

constexpr const char *assumed = "as assumed", *as_run = "as run";

class LabTheory : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setting.scale = 1, setting.repeat = 4;
    results = run_parts(find_experiment("theory"), setting, {.threads = 2});
  }
  // Within 3 % or three standard errors.
  static void expect(double says, const char* row, const char* series, const char* what, double x) {
    const Mean mean = results.mean(row, series, what, x);
    ASSERT_EQ(mean.seeds, 4u) << what;
    EXPECT_NEAR(mean.value, says, std::max(0.03 * std::abs(says), 3 * mean.error))
        << series << ", " << what << " at " << x << " s";
  }
  static double measured(const char* row, const char* series, const char* what, double x) {
    return results.mean(row, series, what, x).value;
  }
  inline static Setting setting;
  inline static Results results;
};

TEST_F(LabTheory, WhatSpeaksOfSingleStepsHolds) {
  const double f = 1 - std::exp(-1.0), f_run = (1 - std::exp(-2.0)) / 2;
  expect(std::exp(-0.2), "k = 3", assumed, "unique", 10);       // (5.1)
  expect(f, "k = 3", assumed, "fill", 1);                       // (5.4)
  expect(f_run, "k = 3", as_run, "fill", 1);                    // with resets from the start
  expect(0.5, "k = 1", assumed, "never reset", 2);              // (5.5)
  expect(0.5 + (f - 0.5) / 4, "k = 3", assumed, "fill", 2);     // (5.22)
  expect(0.5 + (f_run - 0.5) / 4, "k = 3", as_run, "fill", 2);  // (5.22)
  expect(std::pow(f, 3), "k = 3", assumed, "fpr", 1);           // (5.26)
  expect(0.05, "k = 1", assumed, "variance", 10);               // p/2, not (5.24)
}

TEST_F(LabTheory, HalfTheBitsAreOnesInTheEndWhateverTheStart) {
  for (const char* series : {assumed, as_run}) {
    expect(0.5, "k = 3", series, "fill", 50);
    expect(1 / 8.0, "k = 3", series, "fpr", 50);
    expect(1 / 32.0, "k = 5", series, "fpr", 50);
    EXPECT_LT(measured("k = 3", series, "fpr", 10), 0.2 * 0.7) << "(5.3)";
    EXPECT_LT(measured("k = 1", series, "still set", 10), 0.6 * 0.9) << "(5.16)";
  }
}

TEST_F(LabTheory, TheBoundOfTheFnrIsNone) {
  constexpr double k = 3, s = 20'000, U = 1'000'000;
  for (const char* series : {assumed, as_run}) {
    EXPECT_GT(measured("k = 3", series, "fn", 10), 10'000 * k / U);
    EXPECT_GT(measured("k = 3", series, "fn", 10), 2 * k * s / U * 0.9);
  }
}

TEST_F(LabTheory, ThePageHasALineForEachFormula) {
  const Section section = find_experiment("theory").present(setting, results);
  std::string formulas;
  for (const auto& row : section.tables.at(0).rows) {
    EXPECT_EQ(row.size(), section.tables[0].columns.size()) << row[0];
    formulas += row[0];
  }
  for (const char* formula :
       {"(5.1)", "(5.2)", "(5.3)", "(5.4)", "(5.5)", "(5.7)", "(5.12)", "(5.14)", "(5.16)",
        "(5.17)", "Theorem 5.1", "(5.22)", "(5.24)", "(5.26)", "(5.27)"})
    EXPECT_NE(formulas.find(formula), std::string::npos) << formula;
  Setting small = setting;
  small.scale = 0.01;
  EXPECT_THROW(find_experiment("theory").parts(small), Error);
}

}  // namespace
}  // namespace weir::lab
