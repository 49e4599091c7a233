// An experiment is a list of parts that measure, each on its own, and a page that is made of what
// all of them measured. Parts run on any number of threads and are kept as they finish; what they
// give depends on nothing but the setting.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results.hpp"
#include "section.hpp"
#include "stream.hpp"

namespace weir::lab {

struct Setting {
  std::vector<std::string> traces;   // files of keys, a line each
  std::vector<std::string> filters;  // empty: those the experiment chooses
  unsigned repeat = 3;               // seeds 1, 2, ...
  double scale = 0.01;               // of the papers' sizes
  // Of compare; empty and 0: its own.
  std::vector<std::string> streams = {};  // as make_stream takes them
  std::uint64_t records = 0;              // of each, and at most of a file
  std::vector<double> bits_a_key = {}, fprs = {};
};

struct Part {
  std::string name;         // unique in its experiment, and the same for the same work
  double seconds = 0;       // on the machine of docs/performance.md, for the time left
  std::uint64_t bytes = 0;  // of memory, roughly: oracle, streams and filters
  std::function<std::vector<Measurement>()> run;
};

struct Experiment {
  std::string name, what;
  // Throw Error(Config) for a setting that means nothing.
  std::function<std::vector<Part>(const Setting&)> parts;
  std::function<Section(const Setting&, const Results&)> present;
  double default_scale = 1;  // where the setting gives none
};

const std::vector<Experiment>& experiments();
// Throws Error(Config) with the nearest names.
const Experiment& find_experiment(const std::string& name);

// The families, each in its file under experiments/.
std::vector<Experiment> rsbf_tables();   // rsbf-table-2 to 5
std::vector<Experiment> rsbf_figures();  // rsbf-fig-2 to 8
std::vector<Experiment> rsbf_theory();   // theory
std::vector<Experiment> ibf_tables();    // ibf-table-2
std::vector<Experiment> ibf_figures();   // ibf-fig-3 to 18
std::vector<Experiment> bloom_sizing();
std::vector<Experiment> compressed_bloom_filters();
std::vector<Experiment> spectral_rules();
std::vector<Experiment> reservoir_induction();
std::vector<Experiment> compare_filters();   // compare
std::vector<Experiment> repeat_distances();  // distances
std::vector<Experiment> weir_tables();

}  // namespace weir::lab
