#include "plan/weir_cache.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/bits.hpp"
#include "plan/uniform.hpp"
#include "plan/weir_hand.hpp"

namespace weir {
namespace {

double full_fpr(const WeirLayout& layout) {
  return std::ldexp(1.0 * layout.slots / layout.buckets, -layout.length[layout.slots]);
}

// WeirHand::held_time as a table over log x.
class HeldTime {
 public:
  explicit HeldTime(const std::vector<double>& entering) {
    const WeirHand hand(entering);
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_[i] = std::log(hand.held_time(std::exp(least + step * static_cast<double>(i))));
  }
  double operator()(double x) const {
    const double at = std::clamp((std::log(x) - least) / step, 0.0, points - 1.001);
    const auto i = static_cast<std::size_t>(at);
    const double part = at - static_cast<double>(i);
    return std::exp(values_[i] * (1 - part) + values_[i + 1] * part);
  }

 private:
  static constexpr double least = -30, step = 0.02, points = 1720;
  std::array<double, static_cast<std::size_t>(points)> values_{};
};

// Poisson numbers with that mean, one for each of `count` equal slices of probability, shuffled.
std::vector<double> stratified_poisson(double mean, std::size_t count, Draws& draws) {
  std::vector<double> numbers(count);
  if (mean > 1e6) {
    numbers.assign(count, mean);
    return numbers;
  }
  double k = std::max(0.0, std::floor(mean - 10 * std::sqrt(mean) - 10));
  double p = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)), below = p;
  for (std::size_t i = 0; i < count; ++i) {
    const double want = (static_cast<double>(i) + draws.unit()) / static_cast<double>(count);
    while (below < want && k < mean + 10 * std::sqrt(mean) + 20) {
      k += 1;
      below += p *= mean / k;
    }
    numbers[i] = k;
  }
  for (std::size_t i = count; i > 1; --i) std::swap(numbers[i - 1], numbers[draws.below(i)]);
  return numbers;
}

class PopularLines {
 public:
  PopularLines(const WeirModel& model, const StreamModel& stream)
      : model_(model),
        classes_(stream.popularity),
        held_time_(model.entering),
        fpr_(full_fpr(model.layout)),
        slots_(model.layout.slots),
        keys_(classes_.size() * lines),
        held_(classes_.size() * lines),
        period_(lines, 1e30) {
    Draws draws(2026);
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const auto numbers = stratified_poisson(classes_[c].keys / model.lines, lines, draws);
      for (std::size_t l = 0; l < lines; ++l) keys_[l * classes_.size() + c] = numbers[l];
    }
  }

  void step(double dt) {
    for (std::size_t l = 0; l < lines; ++l) step_line(l, dt);
    t_ += dt;
  }
  // The chance that a record is a repeat and missed.
  [[nodiscard]] double missed() const {
    double sum = 0;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const double m = classes_[c].rate;
      const double came = m >= 1 ? 1 : -std::expm1(t_ * std::log1p(-m));
      for (std::size_t l = 0; l < lines; ++l)
        sum += keys_[l * classes_.size() + c] * m *
               std::max(0.0, came - held_[l * classes_.size() + c]);
    }
    return sum * (1 - fpr_) * model_.lines / lines;
  }

 private:
  static constexpr std::size_t lines = 192;

  [[nodiscard]] double next_held(double held, double m, double others, double T, double dt) const {
    const double enters = T < 1e29 ? m * (1 - fpr_) : m;
    const double time = T < 1e29 ? held_time_((m + others) * T) / (m + others) : 1e30;
    const double s = time / (time + 1 / enters);
    return s + (held - s) * std::exp(-enters * dt / s);
  }

  void step_line(std::size_t l, double dt) {
    double* const held = &held_[l * classes_.size()];
    const double* const keys = &keys_[l * classes_.size()];
    double absent = 0;  // records of keys that are not held, a record
    for (std::size_t c = 0; c < classes_.size(); ++c)
      absent += keys[c] * classes_[c].rate * (1 - held[c]);
    const double others = absent * fpr_ / slots_;
    const auto used = [&](double T) {
      double sum = 0;
      for (std::size_t c = 0; c < classes_.size(); ++c)
        if (keys[c] > 0) sum += keys[c] * next_held(held[c], classes_[c].rate, others, T, dt);
      return sum;
    };
    double T = 1e30;
    if (used(T) > slots_) {
      double low = period_[l] < 1e29 ? period_[l] / 1.5 : dt / 1e3, high = low * 2.25;
      while (used(low) > slots_) high = low, low /= 4;
      while (used(high) < slots_ && high < 1e28) low = high, high *= 4;
      while (high > low * 1.0005) {
        const double middle = std::sqrt(low * high);
        (used(middle) < slots_ ? low : high) = middle;
      }
      T = std::sqrt(low * high);
    }
    period_[l] = T;
    for (std::size_t c = 0; c < classes_.size(); ++c)
      held[c] = next_held(held[c], classes_[c].rate, others, T, dt);
  }

  const WeirModel& model_;
  const std::vector<Popularity>& classes_;
  HeldTime held_time_;
  double fpr_, slots_, t_ = 0;
  std::vector<double> keys_, held_;  // of each line and class
  std::vector<double> period_;       // of each line, as it was last
};

// Moments from the first on which a line may be full, spaced evenly by their logarithm, `skip` one
// of them.
std::vector<double> moments(const StreamModel& stream, double first) {
  constexpr int steps = 60;
  const auto skip = static_cast<double>(stream.skip), end = static_cast<double>(stream.records);
  std::vector<double> grid;
  const auto add = [&](double from, double to) {
    for (int i = 0; i < steps; ++i) grid.push_back(from * std::pow(to / from, 1.0 * i / steps));
  };
  first = std::min(first, end / 2);
  if (skip > first) add(first, skip);
  add(std::max(first, skip), end);
  grid.push_back(end);
  return grid;
}

class OneKey {
 public:
  OneKey(const WeirModel& model, const std::vector<Distance>& distances)
      : model_(model),
        distances_(distances),
        round_(2 * model.layout.slots),
        top_(model.entering.size() - 1),
        reach_(round_ * (top_ + 1)),
        again_(reach_),
        within_(reach_ + 1) {}

  // The share of records whose key is not held. A share f of them is taken for another's
  // fingerprint, needs no slot, and lives and dies with that one.
  double absent(double f) {
    const double slots = model_.lines * model_.layout.slots;
    double low = 1e-6 / model_.lines, high = 1e2 / model_.lines;
    for (int i = 0; i < 24; ++i) {
      const double rate = std::sqrt(low * high);
      follow(rate);
      ((1 - f) * held_ / occurrences_ / rate > slots ? low : high) = rate;
    }
    return 1 / occurrences_;
  }

 private:
  // The chain of a key that has entered, at that many steps of the hand a record.
  void follow(double rate) {
    find_steps(rate);
    double entering = 0;
    for (const double share : model_.entering) entering += share;
    std::vector<double> now(reach_, 0.0), next(reach_);
    // One that enters right before the hand is put behind it.
    for (std::size_t i = 0; i < reach_; ++i)
      now[i] = model_.entering[i / round_] / entering / static_cast<double>(round_) *
               (i % round_ == 0            ? 0
                : i % round_ == round_ - 1 ? 2
                                           : 1);
    occurrences_ = held_ = 0;
    for (double all = 1; all > 1e-6;) {
      std::fill(next.begin(), next.end(), 0.0);
      for (std::size_t i = 0; i < reach_; ++i)
        if (now[i] > 1e-12) come_again(now[i], i / round_, i % round_, next);
      now.swap(next);
      all = std::accumulate(now.begin(), now.end(), 0.0);
    }
  }

  // again_[k]: the chance that a key comes again after k steps; within_[k]: after less.
  void find_steps(double rate) {
    std::fill(again_.begin(), again_.end(), 0.0);
    for (const Distance& d : distances_) {
      const double mean = rate * d.records;
      double p = d.share * std::exp(-mean);
      for (std::size_t k = 0; k < reach_ && mean < 700; ++k) {
        again_[k] += p;
        p *= mean / static_cast<double>(k + 1);
      }
    }
    for (std::size_t k = 0; k < reach_; ++k) within_[k + 1] = within_[k] + again_[k];
  }

  // A share w of keys was met at that age, u + 1 steps before the hand passes; it passes every
  // round_ steps after that.
  void come_again(double w, std::size_t age, std::size_t u, std::vector<double>& next) {
    const std::size_t end = u + 1 + age * round_;
    occurrences_ += w;
    for (std::size_t k = 0; k < end; ++k) {
      held_ += w * (1 - within_[k + 1]);
      const std::size_t passed = k <= u ? 0 : 1 + (k - u - 1) / round_;
      const std::size_t then = std::min(top_, age - passed + 1);
      next[then * round_ + (u + passed * round_ - k)] += w * again_[k];
    }
  }

  const WeirModel& model_;
  const std::vector<Distance>& distances_;
  std::size_t round_, top_, reach_;
  std::vector<double> again_, within_;
  double occurrences_ = 0, held_ = 0;  // of a key that enters, until it has left; steps it is held
};

}  // namespace

double weir_fnr_by_popularity(const WeirModel& model, const StreamModel& stream) {
  PopularLines lines(model, stream);
  const double slots = model.lines * model.layout.slots;
  const auto grid = moments(stream, std::max(1.0, slots / 8));
  const auto skip = static_cast<double>(stream.skip);
  double misses = 0, repeats = 0, before = 0, at = 0;
  for (const double t : grid) {
    lines.step(t - at);
    const double now = lines.missed();
    if (t > skip) {
      misses += (t - at) * 0.5 * (before + now);
      repeats += t - at - (distinct_keys(stream, t) - distinct_keys(stream, at));
    }
    at = t;
    before = now;
  }
  return repeats > 0 ? std::min(1.0, misses / repeats) : 0;
}

double weir_fnr_by_distances(const WeirModel& model, const StreamModel& stream) {
  double again = 0;
  for (const Distance& d : stream.distances) again += d.share;
  const double fpr = full_fpr(model.layout);
  const double steady = OneKey(model, stream.distances).absent(fpr) - (1 - again);
  const double slots = model.layout.slots;
  const auto grid = stream_grid(stream, 400);
  const double missed = missed_share(stream, grid, [&](double t) {
    // Of the lines, those that are full; of the repeats, those not farther than the beginning.
    double met = 0;
    for (const Distance& d : stream.distances) met += d.records < t ? d.share : 0;
    const double keys = distinct_keys(stream, t) / model.lines;
    const double full = 0.5 * std::erfc((slots - keys) / std::sqrt(2 * std::max(keys, 1e-9)));
    return full * std::max(0.0, steady - (again - met));
  });
  return std::min(1.0, missed) * (1 - fpr);
}

}  // namespace weir
