// weir dedup: from flags to a run.
#pragma once

#include <optional>
#include <string>

#include "dedup_window.hpp"
#include "making.hpp"
#include "record_flags.hpp"
#include "weir/dedup.hpp"

namespace weir::cli {

struct DedupFlags : RecordFlags {
  MakingFlags making;
  WindowFlags window;
  std::string importance, time;
  std::optional<std::uint32_t> importance_max;

  std::string output, repeats_file;
  bool repeats = false, mark = false, count = false;
  std::string stats;  // "", "text" or "json"
  bool quiet = false;
  std::optional<double> max_fpr;

  std::string state, save_every;
  bool read_only = false, resume = false;
};

void run_dedup(const DedupFlags& flags);

}  // namespace weir::cli
