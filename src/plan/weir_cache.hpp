// What the weir filter misses where keys are not equally likely: it is a cache of fingerprints.
//
// By popularity. A key of rate m that is not held enters with its next record, and is held for a
// mean time H(m, T), T being the hand's period (plan/weir_hand.hpp). So the chance h that it is
// held goes towards s = H / (H + 1/m) as
//   h' = (m / s) (s - h)
// and T is at every moment such that the n slots of the line are just full. (Before they are, T
// is infinite, s = 1, and h is the chance that the key has come at all.) A repeat is missed with
// probability p - h, p being the chance that its key came before. Lines differ by the keys that
// they serve: a set of lines is drawn, of every class a Poisson number of keys, by stratified
// draws so that each class has its right distribution over the lines.
//   A key taken for another's fingerprint does not enter (probability f = the FPR of a full line)
//   and keeps that fingerprint young; both are part of the rates.
//
// By distances. In the order of hashes the hand goes round at an even pace, in 2n steps (where
// nothing comes again it passes 2n slots a round: dense before it, thin behind). Within a distance
// of d records it makes a Poisson number of steps with mean (steps a record) d. A newcomer is 1 to
// 2n - 1 steps before the hand, each as likely, for one that enters right before the hand is put
// behind it. At age g it survives g passes; a hit raises the age and leaves it where it is. So
// (age, steps to the next pass) is a Markov chain over the occurrences of a key, which ends where
// the key does not come again, or is not there when it does. The pace is such that insertions a
// record times the mean time held fill the slots. A key taken for another's fingerprint needs no
// slot and is held as long as that one.
//
// Measured, 2 million records through 32 and 128 KiB (predicted / counted FNR): by popularity, Zipf
// exponents 0.6 to 1.2, 0.97 to 1.02 at an FPR of 0.1 % and 0.99 to 1.08 at 5 %; by distance,
// geometric and Pareto laws, 0.93 to 1.05 and 0.90 to 1.00. Stops working: below an FNR of 0.1 %
// the few lines that are full decide, and the drawn ones are too few (0.6 at 0.06 against 0.11 %).
// A fixed distance far within one round and repeated often is 1.3 off, one near the end of a round
// 0.87 at an FPR of 5 %: there it matters how evenly the hand goes.
#pragma once

#include "plan/weir_model.hpp"

namespace weir {

double weir_fnr_by_popularity(const WeirModel& model, const StreamModel& stream);
double weir_fnr_by_distances(const WeirModel& model, const StreamModel& stream);

}  // namespace weir
