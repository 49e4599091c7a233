// Experiments as tests run them.
#pragma once

#include "experiment.hpp"
#include "runner.hpp"

namespace weir::lab {

inline Setting at(double scale, unsigned repeat) {
  Setting setting;
  setting.scale = scale, setting.repeat = repeat;
  return setting;
}
inline Results run(const std::string& name, const Setting& setting) {
  return run_parts(find_experiment(name), setting, {.threads = 2});
}

}  // namespace weir::lab
