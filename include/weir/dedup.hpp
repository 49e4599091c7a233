// The main job: lines in, first ones out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/filter.hpp"

namespace weir {

struct DedupOptions {
  std::vector<std::string> inputs = {"-"};  // in order; "-" is standard input
  int output = 1;                           // file descriptor
  bool mark = false;  // every record, "0<TAB>" (new) or "1<TAB>" (seen) in front
};

struct DedupStats {
  std::uint64_t records = 0, bytes = 0;  // read
  std::uint64_t first = 0, repeats = 0;
  double seconds = 0;
};

// A record is a line; its key is the line without the newline. Lines of any length and any bytes;
// a last line without newline stays as it is, unless more lines follow it from the next
// file. Output keeps the order and is written when the call returns. Throws Error(Io).
// Beside the filter: two buffers of 256 KiB and of the longest line.
DedupStats dedup(Filter& filter, const DedupOptions& options);

}  // namespace weir
