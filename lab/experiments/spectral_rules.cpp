#include "experiment.hpp"

namespace weir::lab {

std::vector<Experiment> spectral_rules() { return {}; }

}  // namespace weir::lab
