#include "experiment.hpp"

namespace weir::lab {

std::vector<Experiment> reservoir_induction() { return {}; }

}  // namespace weir::lab
