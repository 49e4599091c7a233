// Runs the parts of an experiment on several threads, and keeps each as it finishes: after an
// interruption, or with another experiment added, only what is missing is run.
//
//   DIR/parts/EXPERIMENT/PART.csv   what one part measured; its head says for which setting
//   DIR/EXPERIMENT.csv              all of them, in the order of the parts
#pragma once

#include <functional>
#include <string>

#include "experiment.hpp"

namespace weir::lab {

struct Progress {
  std::size_t done = 0, all = 0;  // parts
  double seconds_left = 0;        // by what the parts before took
};

struct Running {
  std::string folder = {};  // empty: nothing is kept
  unsigned threads = 1;
  std::uint64_t memory = 0;  // of the machine: parts that need more together wait for each other
  std::function<void(const Progress&)> progress = {};  // called from any thread, one at a time
};

// Throws Error(NoMemory) for a part that needs more than the machine has, Error(Io), and what a
// part throws.
Results run_parts(const Experiment& experiment, const Setting& setting, const Running& running);

// The seconds that the experiment's parts take on one thread of this machine, by their estimates
// and a short measurement.
double seconds_here(const Experiment& experiment, const Setting& setting);

// The raw rows as CSV, with experiment and machine; for reading by other programs.
void write_raw(const std::string& path, const std::string& experiment, const Results& results);

// Processor, cores and system in a few words.
std::string machine();

}  // namespace weir::lab
