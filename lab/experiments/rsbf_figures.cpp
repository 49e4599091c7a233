#include "experiment.hpp"

namespace weir::lab {

std::vector<Experiment> rsbf_figures() { return {}; }

}  // namespace weir::lab
