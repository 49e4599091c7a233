#include "experiment.hpp"

#include "nearest.hpp"
#include "weir/error.hpp"

namespace weir::lab {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = [] {
    std::vector<Experiment> list;
    for (const auto family : {rsbf_tables, rsbf_figures, rsbf_theory, ibf_tables, ibf_figures,
                              bloom_sizing, compressed_bloom_filters, spectral_rules,
                              reservoir_induction, compare_filters, repeat_distances, weir_tables})
      for (Experiment& experiment : family()) list.push_back(std::move(experiment));
    return list;
  }();
  return all;
}

const Experiment& find_experiment(const std::string& name) {
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments()) {
    if (name == experiment.name) return experiment;
    names.push_back(experiment.name);
  }
  throw Error(ErrorCode::Config, "there is no experiment '" + name + "'; the nearest is " +
                                     nearest(name, names) + " (`weir lab list` shows all)");
}

}  // namespace weir::lab
