// The sizes of a Bloom filter and of its kin: m = n log2(1/FPR) / ln 2, k = ln 2 * m/n.
#pragma once

#include "core/params.hpp"

namespace weir {

// Bits (or counters) for `keys` keys at that FPR with the best k.
double bloom_size(double keys, double fpr);
// The best k for `m` positions; where the keys are unknown, the k of a filter that is full at
// that FPR.
std::uint64_t bloom_probes(double m, double keys, double fpr, unsigned most);

// Fills m and k; m must be there already if the budget decides it. Throws Error(Config) when
// nothing tells the size.
void complete_bloom(Params& params, const Request& request, const char* name, unsigned max_k);

}  // namespace weir
