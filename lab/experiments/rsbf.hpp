// What the experiments on the RSBF paper share: its two filters, and the counting of errors.
#pragma once

#include <string>

#include "follow.hpp"
#include "measure.hpp"

namespace weir::lab {

inline std::string rsbf_spec(std::uint64_t bits, unsigned k) {
  return "rsbf:k=" + std::to_string(k) + ",M=" + std::to_string(bits);
}
// Stable FPR 0.1, as the paper's threshold.
inline std::string sbf_spec(std::uint64_t bits) {
  return "stable:Max=1,K=2,P=4,m=" + std::to_string(bits);
}

inline void count(bool first, bool seen, Measured& errors) {
  Rate& rate = first ? errors.fpr : errors.fnr;
  rate.of += 1;
  rate.events += seen == first ? 1 : 0;
}
inline void count(const Batch& batch, Measured& errors) {
  for (std::size_t i = 0; i < batch.keys.size(); ++i)
    count(batch.first[i] != 0, batch.verdicts[i] == Verdict::Seen, errors);
}

}  // namespace weir::lab
