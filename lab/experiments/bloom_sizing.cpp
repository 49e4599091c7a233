#include "experiment.hpp"

namespace weir::lab {

std::vector<Experiment> bloom_sizing() { return {}; }

}  // namespace weir::lab
