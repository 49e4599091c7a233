#include "experiment.hpp"

#include <algorithm>
#include <array>

#include "weir/error.hpp"

namespace weir::lab {
namespace {

constexpr std::array all = {
    Experiment{"weir-tables", "weir against RSBF and SBF on the streams of Tables 2 to 5",
               against_papers},
    Experiment{"compare", "every filter on a trace at equal memory and realised FPR", contest},
    Experiment{"distances", "share of repeats missed, by how far back the first one lies",
               distances},
};

std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::span<const Experiment> experiments() { return all; }

const Experiment& find_experiment(const std::string& name) {
  const Experiment* nearest = &all.front();
  for (const Experiment& experiment : all) {
    if (name == experiment.name) return experiment;
    if (edits(name, experiment.name) < edits(name, nearest->name)) nearest = &experiment;
  }
  throw Error(ErrorCode::Config, "there is no experiment '" + name + "'; the nearest is '" +
                                     nearest->name + "' (`weir lab list` shows all)");
}

}  // namespace weir::lab
