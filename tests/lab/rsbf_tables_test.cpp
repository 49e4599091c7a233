// The printed figures of the RSBF paper come out, as far as they are explained.
#include <gtest/gtest.h>

#include <cmath>

#include "lab/running.hpp"
#include "paper_rows.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

// Within 3 % of the printed figure, or three standard errors of our counts and theirs together.
void expect_printed(const Results& results, const PaperRow& row, const std::string& series,
                    const std::string& what, double printed, double scale) {
  const std::string name = std::to_string(row.bits);
  const Mean mean = results.mean(name, series, what);
  ASSERT_GT(mean.seeds, 0u) << name << " " << series;
  const double n = results.mean(name, series, what == "fnr" ? "repeats" : "firsts").value;
  const double p = printed / 100;
  const double error = std::sqrt(p * (1 - p) * (1 / (n * mean.seeds) + scale / n));
  EXPECT_NEAR(mean.value, p, std::max(0.03 * p, 3 * std::max(error, mean.error)))
      << "table " << row.table << ", " << name << " bits, " << series << ", " << what;
}

Results expect_table(int table, const Setting& s) {
  const Experiment& experiment = find_experiment("rsbf-table-" + std::to_string(table));
  const Results results = run_parts(experiment, s, {.threads = 2});
  for (const PaperRow& row : paper_rows) {
    if (row.table != table) continue;
    for (const bool is_rsbf : {true, false}) {
      const Printed& printed = is_rsbf ? row.rsbf : row.sbf;
      const std::string series = is_rsbf                 ? "RSBF"
                                 : printed.remark == 'e' ? "SBF, 31-bit draws"
                                                         : "SBF";
      const bool small = s.scale < 0.01 && row.bits == 262'144;  // 262 bits left of it
      if (printed.remark == 'c' || small) continue;
      expect_printed(results, row, series, "fnr", printed.fnr, s.scale);
      expect_printed(results, row, series, "fpr", printed.read_fpr.value_or(printed.fpr), s.scale);
    }
  }
  const Section section = experiment.present(s, results);
  const auto& verdict = section.tables.at(1).rows.at(0);
  EXPECT_EQ(verdict[0], verdict[1]) << "explained pairs, of these met";
  return results;
}

TEST(LabRsbfTables, Table2ComesOutAsPrinted) { expect_table(2, at(1, 6)); }
TEST(LabRsbfTables, Table4ComesOutAsPrintedAtAThousandth) { expect_table(4, at(0.001, 4)); }
TEST(LabRsbfTables, Table5ComesOutAsPrintedAtAThousandth) {
  const Results results = expect_table(5, at(0.001, 4));
  // Why the remark (e): SBF as it is described misses more than is printed.
  const Mean full = results.mean("4294967296", "SBF", "fnr");
  EXPECT_GT(full.value, 1.03 * 0.13163 + 3 * full.error);
}

TEST(SlowLabRsbfTables, Table3ComesOutAsPrinted) { expect_table(3, at(1, 1)); }

TEST(LabRsbfTables, AScaleTooSmallIsRefusedAndTheLeastNamed) {
  for (const auto& [name, scale, least] :
       {std::tuple{"rsbf-table-2", 0.5, "least is 1"}, std::tuple{"rsbf-table-3", 0.01, "0.1"},
        std::tuple{"rsbf-table-4", 0.0001, "0.001"}}) {
    try {
      find_experiment(name).parts(at(scale, 1));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(least), std::string::npos) << error.what();
    }
  }
}

TEST(LabRsbfTables, TheFullSizeFitsTheMemoryOfAnOrdinaryMachine) {
  for (const char* name : {"rsbf-table-4", "rsbf-table-5"})
    for (const Part& part : find_experiment(name).parts(at(1, 1)))
      EXPECT_LT(part.bytes, std::uint64_t{1} << 30) << part.name;
}

}  // namespace
}  // namespace weir::lab
