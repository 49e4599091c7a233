// Figure 18 of the IBF paper: every filter's zero cells against the Markov chain.
#include <gtest/gtest.h>

#include <cmath>

#include "experiment.hpp"
#include "ibf_runs.hpp"
#include "runner.hpp"

namespace weir::lab {
namespace {

TEST(SlowLabIbf, CellsAreZeroAlongTheStreamAsTheChainSays) {
  Setting setting;
  setting.scale = 0.2, setting.repeat = 5;
  const Results results = run_parts(find_experiment("ibf-fig-18"), setting, {.threads = 2});
  ASSERT_EQ(results.series("zeros").size(), 6u);
  for (const std::string& filter : results.series("zeros"))
    for (const double x : results.xs("zeros", filter, "zeros")) {
      const Mean mean = results.mean("zeros", filter, "zeros", x);
      const double chain = results.mean("zeros", filter, "by the chain", x).value;
      // Where hardly a cell is zero the seeds may all show none: a count's own error holds.
      const double cells = ibf_cells * setting.scale * setting.repeat;
      const double error = std::max(mean.error, std::sqrt(chain / cells));
      EXPECT_NEAR(mean.value, chain, std::max(0.03 * chain, 3 * error)) << filter << " " << x;
    }
}

}  // namespace
}  // namespace weir::lab
