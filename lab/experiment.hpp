// What the lab can run, by name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "table.hpp"

namespace weir::lab {

struct Setting {
  std::vector<std::string> traces;   // files of keys, a line each
  std::vector<std::string> filters;  // empty: those the experiment chooses
  unsigned repeat = 3;               // seeds
  double scale = 0.01;               // of the papers' sizes
};

struct Experiment {
  const char* name;
  const char* what;
  Table (*run)(const Setting& setting);
};
std::span<const Experiment> experiments();
// Throws Error(Config) with the nearest names.
const Experiment& find_experiment(const std::string& name);

// The three below, each in its file.
Table against_papers(const Setting& setting);
Table contest(const Setting& setting);
Table distances(const Setting& setting);

}  // namespace weir::lab
