// Axes end where a reader expects it, and a chart says nothing but its data.
#include "chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "axis.hpp"
#include "gnuplot.hpp"
#include "sample_section.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> named(const Axis& axis) {
  std::vector<std::string> labels;
  for (const Tick& tick : axis.ticks)
    if (!tick.label.empty()) labels.push_back(tick.label);
  return labels;
}

TEST(LabAxis, StepsAreRoundAndHeightsBeginAtZero) {
  const Axis axis = axis_of({3, 20, 97.5}, false, true);
  EXPECT_THAT(named(axis), ElementsAre("0", "20", "40", "60", "80", "100"));
  EXPECT_EQ(axis.low, 0);
  EXPECT_EQ(axis.high, 100);
}

TEST(LabAxis, DoesNotBeginAtZeroWhereAllIsFarFromIt) {
  const Axis axis = axis_of({0.955, 0.98}, false, true);
  EXPECT_GT(axis.low, 0.9);
  EXPECT_LE(axis.low, 0.955 + 1e-9);
  EXPECT_GE(axis.high, 0.98);
}

TEST(LabAxis, CountsMillionsAndSmallParts) {
  const Axis records = axis_of({0, 695e6}, false, false);
  EXPECT_EQ(records.unit_name, "millions");
  EXPECT_EQ(records.high, 695);
  const Axis rates = axis_of({0, 3.1e-5}, false, true);
  EXPECT_EQ(rates.unit_name, "in units of 10⁻⁵");
  EXPECT_EQ(named(rates).back(), "3.5");
  EXPECT_THAT(named(axis_of({0, 500'000}, false, false)),
              ElementsAre("0", "100,000", "200,000", "300,000", "400,000", "500,000"));
}

TEST(LabAxis, WholeNumbersHaveWholeTicks) {
  EXPECT_THAT(named(axis_of({1, 2, 3}, false, false)), ElementsAre("1", "2", "3"));
}

TEST(LabAxis, LogAxesNameDecades) {
  EXPECT_THAT(named(axis_of({2e-6, 0.3}, true, true)),
              ElementsAre("10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"));
  EXPECT_THAT(named(axis_of({2, 32}, true, false)), ElementsAre("2", "5", "10", "20"));
}

TEST(LabAxis, BearsAnything) {
  for (const bool log : {false, true})
    for (const bool round : {false, true})
      for (const auto& values : std::vector<std::vector<double>>{
               {}, {0}, {5}, {-3}, {NAN, HUGE_VAL}, {1e300, 1e-300}, {-1e-12, 1e-12}, {7, 7}}) {
        const Axis axis = axis_of(values, log, round);
        EXPECT_LT(axis.low, axis.high);
        EXPECT_LT(axis.ticks.size(), 200u);
      }
}

TEST(LabChart, DrawsEveryKindOfLine) {
  for (const Chart& chart : sample_charts()) {
    const std::string svg = draw(chart);
    EXPECT_THAT(svg, HasSubstr("viewBox=")) << chart.name;
    EXPECT_THAT(svg, Not(HasSubstr("<script"))) << chart.name;
    EXPECT_EQ(svg.rfind("<svg", 0), 0u) << chart.name;
    for (const Line& line : chart.lines) EXPECT_THAT(svg, HasSubstr(">" + line.name)) << chart.name;
  }
  for (const char* label : {">0.0<", ">0.2<", ">1.0<", ">100<", ">records, billions<"})
    EXPECT_THAT(draw(sample_charts()[0]), HasSubstr(label));
  EXPECT_THAT(draw(sample_charts()[3]), HasSubstr("nothing to show"));
}

TEST(LabChart, ALineOfTheSameNameHasTheSameColour) {
  const std::string script = chart_script(sample_charts()[0]);
  EXPECT_THAT(script, HasSubstr("$d0 using 1:2 with linespoints lw 2 lc rgb '#0072b2' dt solid"));
  EXPECT_THAT(script, HasSubstr("$d1 using 1:2 with lines lw 1.8 lc rgb '#0072b2' dt (8,5)"));
}

TEST(LabChart, TextIsNeverACommand) {
  Chart chart{"text", "'1; system('touch x') #", "`echo x`", "a\nb\\n", {}};
  chart.lines = {{"@macro '' \"$d0", {{1, 1}, {2, 2}}}};
  const std::string svg = draw(chart);
  EXPECT_THAT(svg, HasSubstr("'1; system('touch x') #"));
  EXPECT_THAT(svg, HasSubstr("`echo x`"));
  EXPECT_THAT(svg, HasSubstr("@macro '' \"$d0"));
  EXPECT_THAT(svg, HasSubstr(">a b\\n<"));
}

TEST(LabChart, SaysWhatGnuplotSaysAndHowToGetIt) {
  try {
    gnuplot("plot nonsense +\n");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("gnuplot failed: "));
    EXPECT_THAT(error.what(), HasSubstr("line"));
  }
}

}  // namespace
}  // namespace weir::lab
