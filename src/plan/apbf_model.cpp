#include "plan/apbf_model.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "plan/generation_model.hpp"

namespace weir {
namespace {

constexpr std::uint64_t line_bits = 511;  // of filter/slate.hpp

double fill_of(double keys, double m) {
  return m > 1 ? -std::expm1(keys * std::log1p(-1 / m)) : (keys > 0 ? 1.0 : 0.0);
}

constexpr std::size_t most_slices = 128;

// done[e]: the chance that a run of matches ends within the first e slices.
void run_chances(std::span<const double> fills, unsigned k, double* done,
                 std::span<double> starts = {}) {
  // The product of any k neighbours is one of a block's end and one of the next block's beginning.
  double to_end[most_slices], from_begin[most_slices];
  for (std::size_t begin = 0; begin < fills.size(); begin += k) {
    const std::size_t end = std::min(begin + k, fills.size());
    double product = 1;
    for (std::size_t i = begin; i < end; ++i) from_begin[i] = product *= fills[i];
    product = 1;
    for (std::size_t i = end; i-- > begin;) to_end[i] = product *= fills[i];
  }
  std::fill_n(done, std::min<std::size_t>(k, fills.size() + 1), 0.0);
  for (std::size_t end = k, block = 0; end <= fills.size(); ++end) {
    const std::size_t j = end - k;
    double run = j == 0 ? 1 : (1 - fills[j - 1]) * (1 - done[j - 1]);
    run *= to_end[j];
    if (j == block)
      block += k;  // a run that is a block
    else
      run *= from_begin[end - 1];
    done[end] = std::min(done[end - 1] + run, 1.0);
    if (j < starts.size()) starts[j] = run;
  }
}

// The chance that no run matches a key whose bit is not set in slice i, for the young slices i:
// none before it and none behind it.
void new_without(std::span<const double> fills, unsigned k, std::vector<double>& chances) {
  double before[most_slices + 1], behind[most_slices + 1];
  double turned[most_slices];
  std::reverse_copy(fills.begin(), fills.end(), turned);
  run_chances(fills, k, before);
  run_chances({turned, fills.size()}, k, behind);
  chances.resize(k);
  for (unsigned i = 0; i < k; ++i)
    chances[i] = (1 - before[i]) * (1 - behind[fills.size() - 1 - i]);
}

// The largest g >= at_least at that FPR, where at_least is known to do.
std::uint64_t most_records(unsigned k, unsigned l, double m, std::uint64_t at_least, double fpr) {
  std::uint64_t good = at_least, bad = at_least * 2;
  const auto does = [&](std::uint64_t g) {
    return apbf_full_fpr(k, l, m, static_cast<double>(g)) <= fpr;
  };
  for (; does(bad); bad *= 2) good = bad;
  while (bad - good > 1) {
    const std::uint64_t middle = good + (bad - good) / 2;
    (does(middle) ? good : bad) = middle;
  }
  return good;
}

// Calls f(k, l, m) for every shape there is room for.
template <class F>
void each_shape(const ApbfWish& wish, F f) {
  for (unsigned k = wish.least_k; k <= wish.most_k; ++k)
    for (unsigned l = wish.least_l; l <= wish.most_l; ++l)
      if (const std::uint64_t m = wish.m != 0 ? wish.m : wish.lines / (k + l) * line_bits; m != 0)
        f(k, l, m);
}

}  // namespace

double apbf_fpr(std::span<const double> fills, unsigned k, std::span<double> starts) {
  double done[most_slices + 1];
  run_chances(fills, k, done, starts);
  return done[fills.size()];
}

double apbf_full_fpr(unsigned k, unsigned l, double m, double g) {
  double fills[most_slices];
  for (unsigned i = 0; i < k; ++i) fills[i] = fill_of((i + 1) * g, m);
  std::fill_n(fills + k, l, fills[k - 1]);
  return apbf_fpr({fills, k + l}, k);
}

std::optional<ApbfPlan> longest_window(const ApbfWish& wish) {
  std::optional<ApbfPlan> best;
  each_shape(wish, [&](unsigned k, unsigned l, std::uint64_t m) {
    const auto bits = static_cast<double>(m);
    const std::uint64_t better = best ? best->l * best->g / l + 1 : 1;
    if (wish.g != 0 && wish.g < better) return;
    const std::uint64_t least = wish.g != 0 ? wish.g : better;
    if (apbf_full_fpr(k, l, bits, static_cast<double>(least)) > wish.fpr) return;
    const std::uint64_t g = wish.g != 0 ? wish.g : most_records(k, l, bits, least, wish.fpr);
    best = {k, l, m, g, apbf_full_fpr(k, l, bits, static_cast<double>(g))};
  });
  return best;
}

std::optional<ApbfPlan> least_fpr(const ApbfWish& wish, std::uint64_t window) {
  std::optional<ApbfPlan> best;
  each_shape(wish, [&](unsigned k, unsigned l, std::uint64_t m) {
    const std::uint64_t g = (window + l - 1) / l;
    const double fpr = apbf_full_fpr(k, l, static_cast<double>(m), static_cast<double>(g));
    if (!best || fpr < best->fpr) best = {k, l, m, g, fpr};
  });
  return best;
}

std::optional<ApbfPlan> least_memory(const ApbfWish& wish, std::uint64_t window) {
  // Only g/m and the shape count, so the best shape of a large filter is the best of all.
  ApbfWish large = wish;
  large.lines = std::uint64_t{1} << 34;
  auto best = longest_window(large);
  if (!best) return best;
  const double load = static_cast<double>(best->g) / static_cast<double>(best->m);
  best->g = (window + best->l - 1) / best->l;
  auto lines = static_cast<std::uint64_t>(static_cast<double>(best->g) / load / line_bits) + 1;
  const auto fpr = [&] {
    return apbf_full_fpr(best->k, best->l, static_cast<double>(lines * line_bits),
                         static_cast<double>(best->g));
  };
  while ((best->fpr = fpr()) > wish.fpr) ++lines;
  best->m = lines * line_bits;
  return best;
}

Prediction predict_apbf(const ApbfModel& model, const StreamModel& stream) {
  const std::size_t k = model.k, l = model.l;
  std::vector<double> fills(k + l), own(k + l), starts(l + 1);
  GenerationModel generations;
  generations.classes = k + l;
  generations.slices = k + l;
  generations.young = k;
  generations.g = model.g;
  generations.judge = [&](const std::vector<double>& keys, const std::vector<double>&,
                          std::vector<Fate>& fates) {
    for (std::size_t i = 0; i < k + l; ++i) fills[i] = fill_of(keys[i], model.m);
    for (std::size_t c = 0; c <= k + l; ++c) {
      Fate& fate = fates[c];
      if (c <= l) {
        fate.seen = 1;
        fate.inserted = model.refresh ? 1 : 0;
      } else {
        // Of a key put in c generations ago the slices from c on still hold their bit.
        own = fills;
        std::fill(own.begin() + static_cast<std::ptrdiff_t>(c), own.end(), 1.0);
        fate.seen = apbf_fpr(own, model.k, starts);
        fate.inserted = model.refresh ? 1 : 1 - fate.seen;
        if (!model.refresh) {
          fate.held = starts;
          new_without(own, model.k, fate.sets);
        }
      }
      fate.counted = model.count_insertions ? fate.inserted : 1;
    }
  };
  generations.fill = [&](const std::vector<double>& keys) {
    double sum = 0;
    for (const double n : keys) sum += fill_of(n, model.m);
    return sum / static_cast<double>(keys.size());
  };
  return predict_generations(generations, stream);
}

}  // namespace weir
