#include "plan/generation_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "plan/uniform.hpp"

namespace weir {
namespace {

using Vector = std::vector<double>;
constexpr double never = std::numeric_limits<double>::infinity();

class Generations {
 public:
  Generations(const GenerationModel& model, const StreamModel& stream)
      : model_(model),
        stream_(stream),
        u_(stream.universe > 1 ? -std::log1p(-1 / stream.universe) : never),
        end_(static_cast<double>(stream.records)),
        skip_(static_cast<double>(stream.skip)),
        shares_(model.classes + 1, 0.0),
        keys_(model.slices, 0.0),
        spent_(model.classes + 1, 0.0),
        fates_(model.classes + 1) {
    shares_.back() = 1;
    model_.judge(keys_, shares_, fates_);
  }

  Prediction run() {
    start_round();
    while (t_ < end_ * (1 - 1e-12)) {
      const double to_shift =
          model_.g > 0 ? (model_.g - counted_) / std::max(pace(), 1e-300) : never;
      const double part = model_.g > 0 ? model_.g / steps / std::max(pace(), 1e-300) : never;
      const double scale = std::max(stream_.universe, t_) / 32;  // fine where the stream is young
      const double to_skip = t_ < skip_ ? skip_ - t_ : never;
      const double h = std::min({to_shift, part, scale, to_skip, end_ - t_});
      step(h);
      if (model_.g > 0 && counted_ >= model_.g * (1 - 1e-7)) shift();
    }
    Prediction p;
    p.fpr = firsts_ > 0 ? false_seen_ / firsts_ : 0;
    p.fnr = repeats_ > 0 ? std::clamp(missed_ / repeats_, 0.0, 1.0) : 0;
    p.fill = model_.fill(keys_);
    return p;
  }

 private:
  static constexpr int steps = 8;         // a generation
  static constexpr int most_rounds = 40;  // some streams come in waves that hardly fade

  [[nodiscard]] double pace() const {  // counted records a record
    double sum = 0;
    for (std::size_t c = 0; c < shares_.size(); ++c) sum += shares_[c] * fates_[c].counted;
    return sum;
  }

  void step(double h) {
    std::fill(spent_.begin(), spent_.end(), 0.0);
    move(h / 2);
    model_.judge(keys_, shares_, fates_);
    move(h / 2);
    // Class 0 gains while others lose.
    spent_[0] = std::max(h - std::accumulate(spent_.begin() + 1, spent_.end(), 0.0), 0.0);
    double density = 0;  // of records that are called New, first occurrences too
    for (std::size_t c = 0; c < shares_.size(); ++c) {
      counted_ += spent_[c] * fates_[c].counted;
      density += spent_[c] * (1 - fates_[c].seen);
    }
    const double fpr = fates_.back().seen;
    round_.length += h;
    round_.fpr += h * fpr;
    round_.density += density;
    if (t_ >= skip_) count(t_, t_ + h, fpr, density / h);
    t_ += h;
  }

  void move(double h) {  // (1), (2)
    const Vector before = shares_;
    for (std::size_t c = 0; c < before.size(); ++c) {
      const Fate& fate = fates_[c];
      const double leaves =
          fate.inserted + std::accumulate(fate.held.begin(), fate.held.end(), 0.0);
      if (leaves <= 0 || before[c] <= 0) {
        spent_[c] += before[c] * h;
        continue;
      }
      const double moved = -before[c] * std::expm1(-leaves * u_ * h) / leaves;
      spent_[c] += moved / u_;
      shares_[c] -= moved * leaves;
      shares_[0] += moved * fate.inserted;
      for (std::size_t j = 0; j < fate.held.size(); ++j) shares_[j] += moved * fate.held[j];
      // A slice that was young when the key was put in last holds it already.
      for (std::size_t i = 0; i < std::min(model_.young, c); ++i)
        keys_[i] += stream_.universe * moved * (fate.sets.empty() ? fate.inserted : fate.sets[i]);
    }
  }

  void count(double from, double to, double fpr, double density) {
    const double firsts = distinct_keys(stream_, to) - distinct_keys(stream_, from);
    firsts_ += firsts;
    repeats_ += to - from - firsts;
    false_seen_ += firsts * fpr;
    missed_ += (to - from) * density - firsts * (1 - fpr);
  }

  void shift() {  // (3)
    counted_ = 0;
    shares_.back() += shares_[model_.classes - 1];
    for (std::size_t c = model_.classes - 1; c > 0; --c) shares_[c] = shares_[c - 1];
    shares_[0] = 0;
    for (std::size_t i = keys_.size() - 1; i > 0; --i) keys_[i] = keys_[i - 1];
    keys_[0] = 0;
    model_.judge(keys_, shares_, fates_);
    if (++round_.generations <= model_.classes) return;
    if (steady() || ++rounds_ == most_rounds) take_whole_rounds();
    start_round();
  }
  [[nodiscard]] bool steady() const {
    const auto close = [](double a, double b, double scale) {
      return std::abs(a - b) <= 1e-7 * scale;
    };
    return std::equal(shares_.begin(), shares_.end(), round_.shares.begin(),
                      [&](double a, double b) { return close(a, b, 1); }) &&
           std::equal(keys_.begin(), keys_.end(), round_.keys.begin(),
                      [&](double a, double b) { return close(a, b, a + 1); });
  }
  void take_whole_rounds() {
    const double later = t_ + std::floor((end_ - t_) / round_.length) * round_.length;
    const double from = std::max(t_, skip_);
    if (later > from)
      count(from, later, round_.fpr / round_.length, round_.density / round_.length);
    t_ = std::max(t_, later);
  }
  void start_round() { round_ = {0, 0, 0, 0, shares_, keys_}; }

  // As many generations as a key leaves traces.
  struct Round {
    double length, fpr, density;
    std::size_t generations;
    Vector shares, keys;  // when it began
  };

  const GenerationModel& model_;
  const StreamModel& stream_;
  double u_, end_, skip_;
  double t_ = 0, counted_ = 0;
  Vector shares_, keys_;
  Vector spent_;  // records of the step that met keys of each class
  std::vector<Fate> fates_;
  double firsts_ = 0, repeats_ = 0, false_seen_ = 0, missed_ = 0;
  Round round_{};
  int rounds_ = 0;
};

}  // namespace

Prediction predict_generations(const GenerationModel& model, const StreamModel& stream) {
  require_uniform(stream);
  static_cast<void>(distinct_share(stream));  // refuses a stream that makes no sense
  return Generations(model, stream).run();
}

}  // namespace weir
