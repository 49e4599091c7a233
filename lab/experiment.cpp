#include "experiment.hpp"

#include <algorithm>

#include "weir/error.hpp"

namespace weir::lab {
namespace {

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

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = [] {
    std::vector<Experiment> list;
    for (const auto family :
         {rsbf_tables, rsbf_figures, rsbf_theory, ibf_tables, ibf_figures, bloom_sizing,
          spectral_rules, reservoir_induction, compare_filters, repeat_distances, weir_tables})
      for (Experiment& experiment : family()) list.push_back(std::move(experiment));
    return list;
  }();
  return all;
}

const Experiment& find_experiment(const std::string& name) {
  const auto& all = experiments();
  std::vector<const Experiment*> nearest;
  std::size_t least = ~std::size_t{0};
  for (const Experiment& experiment : all) {
    if (name == experiment.name) return experiment;
    const std::size_t distance = edits(name, experiment.name);
    if (distance < least) least = distance, nearest.clear();
    if (distance == least && nearest.size() < 3) nearest.push_back(&experiment);
  }
  std::string names;
  for (const Experiment* experiment : nearest)
    names += (names.empty() ? "" : " or ") + experiment->name;
  throw Error(ErrorCode::Config, "there is no experiment '" + name + "'; the nearest is " + names +
                                     " (`weir lab list` shows all)");
}

}  // namespace weir::lab
