// The hand of a full line of the weir filter, seen from one fingerprint.
//
// It comes round in T. A fingerprint enters somewhere before the hand, uniform in (0, T), at age e;
// hits raise the age, a pass of the hand lowers it, and a pass at age 0 ends it. With hits at a
// rate m, the mean number of passes until then is that of a small Markov chain, so the mean time
// it is held is T times a function of x = m T alone.
#pragma once

#include <cstddef>
#include <vector>

namespace weir {

class WeirHand {
 public:
  // The share of keys that begin at age 0, 1, ..., 2^a - 1.
  explicit WeirHand(const std::vector<double>& entering) : entering_(entering) {}

  // The mean time held, in units of 1/m.
  [[nodiscard]] double held_time(double x) const;
  // The share of the time that it is held, where it enters with the next hit when it is not.
  [[nodiscard]] double held_share(double x) const {
    const double time = held_time(x);
    return time / (time + 1);
  }

 private:
  [[nodiscard]] double rounds(double x, std::size_t age) const;

  std::vector<double> entering_;
};

}  // namespace weir
