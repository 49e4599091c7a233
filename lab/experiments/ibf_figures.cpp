#include "experiment.hpp"

namespace weir::lab {

std::vector<Experiment> ibf_figures() { return {}; }

}  // namespace weir::lab
