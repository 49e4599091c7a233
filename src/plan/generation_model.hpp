// What filters that forget by generations (apbf, a2) show on a uniform stream.
//
// Such a filter holds slices. A record puts its key into the youngest ones; when a generation ends,
// all age by one, the oldest is emptied and is the youngest again. What becomes of a record depends
// on how many generations ago its key was put in last, its class c, and on how full the slices are.
// So the state is small, and is carried forward in steps of a part of a generation:
//   (1) a_c, the share of keys in each class, strangers as the last one: a key of class c comes
//   with
//       probability 1/U a record and then moves, to class 0 if it is put in
//   (2) the number of distinct keys in each slice; it gives the fills, they give the fates
//   (3) at the end of a generation classes and slices age
// Shares leave a class as exp(-t/U), without an error of the step where fates are constant.
// When a round of generations changes nothing any more, the rest of the stream is taken at once.
#pragma once

#include <functional>
#include <vector>

#include "weir/plan.hpp"

namespace weir {

// What becomes of a record whose key is in a class.
struct Fate {
  double seen = 1;      // chance that it is called Seen
  double counted = 1;   // that it brings the end of the generation nearer
  double inserted = 1;  // that its key is put into the young slices, and is in class 0 then
  // That it is not put in, because slices match by chance as if it had been put in j generations
  // ago. It will be held for known just as long.
  std::vector<double> held = {};
  // That it sets its bit in each young slice, where that bit is not set; empty: as `inserted`. It
  // is more: a key whose bit is missing is less likely to be taken for known.
  std::vector<double> sets = {};
};

struct GenerationModel {
  std::size_t classes;  // a key put in this many generations ago has left no trace
  std::size_t slices;
  std::size_t young;  // slices a key is put into
  double g;           // counted records a generation; 0: one generation for ever
  // fates[c] for each class, fates[classes] for strangers, from the keys in each slice and the
  // share of all keys in each class.
  std::function<void(const std::vector<double>& keys, const std::vector<double>& shares,
                     std::vector<Fate>& fates)>
      judge;
  std::function<double(const std::vector<double>& keys)> fill;
};

Prediction predict_generations(const GenerationModel& model, const StreamModel& stream);

}  // namespace weir
