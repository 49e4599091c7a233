// weir dedup: from flags to a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dedup_window.hpp"
#include "making.hpp"
#include "weir/dedup.hpp"

namespace weir::cli {

struct DedupFlags {
  MakingFlags making;
  WindowFlags window;
  std::vector<std::string> files;

  bool nul = false, csv = false, tsv = false, json = false, no_header = false, plain = false;
  std::optional<std::uint64_t> fixed, max_record;

  std::string fields, separator;
  std::vector<std::string> columns, pointers;
  bool ignore_case = false;
  std::string on_bad = "pass";
  std::string importance, time;
  std::optional<std::uint32_t> importance_max;

  std::string output, repeats_file;
  bool repeats = false, mark = false, count = false;
  std::string stats;  // "", "text" or "json"
  bool quiet = false;
  std::optional<double> max_fpr;

  std::string state, save_every;
  bool read_only = false, resume = false;

  std::optional<std::uint32_t> threads;
  std::uint64_t chunk = 256 << 10;  // for tests: the result does not depend on it
};

void run_dedup(const DedupFlags& flags);

}  // namespace weir::cli
