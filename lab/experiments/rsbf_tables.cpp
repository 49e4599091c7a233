#include "experiment.hpp"

namespace weir::lab {

std::vector<Experiment> rsbf_tables() { return {}; }

}  // namespace weir::lab
