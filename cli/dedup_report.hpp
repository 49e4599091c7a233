// What weir dedup says beside its output.
#pragma once

#include "weir/dedup.hpp"

namespace weir::cli {

void print_stats(const Structure& structure, const DedupStats& stats, bool json);

// One line that is written over and over, for a terminal.
class ProgressLine {
 public:
  void show(const DedupStats& stats);
  void clear();

 private:
  bool shown_ = false;
};

}  // namespace weir::cli
