// Which filter, of which size, with which errors: from what is known to the rest.
//
//   (1) a window is asked for: `apbf`, which misses no repeat within it
//   (2) all keys fit at the FPR: `blocked-bloom`, or `bloom` where only that fits; nothing is
//       missed, ever
//   (3) otherwise `weir`, which goes on without end; `qht` where keys come in no order at all
//       (uniform), more than 5 % false positives are allowed, and it misses less
// What is not given follows: the memory from FPR and FNR or keys, the FPR from memory and keys, a
// window or FNR, the FNR from memory, FPR and stream.
//
// Errors come from each filter's own predict(), for a stream model; or, for a sample, from running
// it in small (plan/sample.hpp). Sizes beyond 32 MiB are predicted at 32 MiB for a part of the
// keys: nothing changes with the size but the size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/sample.hpp"
#include "weir/catalog.hpp"

namespace weir {

struct Wish {
  std::uint64_t memory = 0;   // 0: whatever it takes, as for the numbers below
  std::uint64_t machine = 0;  // the most that one filter can have; 0: any
  std::uint64_t keys = 0, window = 0;
  std::uint64_t records = 0;  // 0: without end
  std::optional<double> fpr, fnr;
  std::optional<StreamModel> stream;
  const StreamSample* sample = nullptr;
};

struct Candidate {
  std::string spec;        // for weir dedup -f
  std::string parameters;  // all of them
  Request request;
  std::uint64_t bytes = 0;  // everything included
  double fpr = 0;
  std::optional<double> fnr;  // nothing: it depends on what is not known of the stream
  std::string source;         // where the errors come from
  std::string trouble;        // why it is none, or has no prediction
};

struct Plan {
  Candidate best;
  std::string why;
  std::vector<Candidate> others;   // at the same memory and FPR
  std::vector<std::string> notes;  // what was assumed
  double distinct = 0;             // keys expected; 0: not known
};

// Throws Error(Config) where there is none, with what is nearest.
Plan make_plan(const Wish& wish);

// The same filter and the others of the plan at another size: for curves.
std::vector<Candidate> at_memory(const Wish& wish, std::uint64_t memory, double fpr);

// Records a second on this machine, by a filter of at most 16 MiB that is really made and fed for
// a fraction of a second.
struct Rate {
  double records_per_second;
  std::uint64_t bytes;  // of the filter that was measured
};
Rate measure_rate(const Candidate& candidate);

}  // namespace weir
