// RSBF or SBF along a stream: errors so far and lately, and how the number of ones moves. What the
// figures of the RSBF paper are made of.
#pragma once

#include "experiment.hpp"

namespace weir::lab {

// The paper's click stream (KDD Cup 2000, 3 million records) is not public. This one stands in: a
// record is a new key with probability `fresh`, else the key of the record a Pareto distance back,
// P(distance > d) = d^-alpha, or a new key where there is no such record.
struct Clicks {
  double fresh = 0.02, alpha = 0.2;
};
std::unique_ptr<Stream> clicks(const Clicks& what, std::uint64_t records, std::uint64_t seed);
// The keys of a file, as `read_trace` numbered them.
std::unique_ptr<Stream> replay(Trace trace);

struct Along {
  std::string row, series;  // of the measurements
  std::string spec;
  std::uint64_t bits = 0, records = 0;
  std::uint64_t keys = 0;      // all are below
  std::uint64_t points = 150;  // of the lines
  double threshold = 32;       // ones: a smaller change a step is called calm
};
// A step is `follow_batch` records, the paper's 1,000. At `points` places x of the stream:
//   fnr, fpr     so far
//   fnr lately   since the point before
//   fpr now      of a key never met, by the ones there are
//   ones         share of the bits
//   change       of ones a step, root of the mean square since the point before
// and once, x = 0:
//   level        records until the ones were within 5 % of their mean over the last half
//   calm         records after which no step changed the ones by more than the threshold
//   tremor       `change` over the last half
std::vector<Measurement> run_along(const Along& what, Stream& stream, std::uint64_t seed);

}  // namespace weir::lab
