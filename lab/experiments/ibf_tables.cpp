#include "experiment.hpp"

namespace weir::lab {

std::vector<Experiment> ibf_tables() { return {}; }

}  // namespace weir::lab
