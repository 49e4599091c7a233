#include "experiment.hpp"

namespace weir::lab {

std::vector<Experiment> rsbf_theory() { return {}; }

}  // namespace weir::lab
