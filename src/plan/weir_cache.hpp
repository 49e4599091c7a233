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
// By distances. The hand steps over the slots of a line; within a distance of d records it makes
// a Poisson number of steps with mean (rate of steps) d. A newcomer is 1..n steps before the
// hand, each as likely; at age g it survives g passes, and a hit raises the age and leaves it
// where it is. So (age, steps to the next pass) is a Markov chain over the occurrences of a key,
// which ends where the key does not come again or is not there when it does. From its weights
// follow the insertions a record and the passes a record, and the rate of steps is such that the
// hand makes as many as there are passes.
#pragma once

#include "plan/weir_model.hpp"

namespace weir {

double weir_fnr_by_popularity(const WeirModel& model, const StreamModel& stream);
double weir_fnr_by_distances(const WeirModel& model, const StreamModel& stream);

}  // namespace weir
