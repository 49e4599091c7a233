#include "plan/rsbf_model.hpp"

#include <algorithm>

#include "plan/uniform.hpp"

namespace weir {
namespace {

using Vector = std::vector<double>;

class Solver {
 public:
  Solver(const RsbfModel& model, const StreamModel& stream)
      : model_(model), u_(1 / stream.universe), lambda_(stream.universe / model.s) {
    const auto end = static_cast<double>(stream.records);
    times_.push_back(0);
    const auto geometric = [&](double from, double to, int points) {
      for (int i = 1; i <= points; ++i)
        times_.push_back(from * std::pow(to / from, static_cast<double>(i) / points));
    };
    times_.push_back(std::min(1.0, end));
    if (end > 1)
      geometric(1, std::min(end, std::max(model.s, 1.01)), 250);  // the rules change at s
    if (end > times_.back()) geometric(times_.back(), end, 350);
  }

  void run() {
    deaths_ = renewals_ = fpr_ = missed_ = zero_ = Vector(times_.size(), 0.0);
    zero_[0] = 1;
    double rate = 0;
    for (std::size_t j = 1; j < times_.size(); ++j) {
      const double t = times_[j], width = t - times_[j - 1];
      const double middle = 0.5 * (t + times_[j - 1]);
      renewals_[j] = renewals_[j - 1] + width * u_ * luck(middle);
      // The rate of death on the last interval follows from the state at its end.
      for (int round = 0; round < 200; ++round) {
        deaths_[j] = deaths_[j - 1] + width * rate;
        const double next = look_back(j);
        const bool done = std::abs(next - rate) <= 1e-6 * next;
        rate = 0.5 * (rate + next);
        if (done) break;
      }
    }
  }

  [[nodiscard]] double fpr_at(double t) const { return at(fpr_, t); }
  [[nodiscard]] double missed_at(double t) const { return at(missed_, t); }
  [[nodiscard]] double fill_at_end() const { return 1 - zero_.back(); }

 private:
  [[nodiscard]] double insert(double t) const { return t <= model_.s ? 1 : model_.s / t; }
  // sigma: the chance that a record's luck renews its zero bit.
  [[nodiscard]] double luck(double t) const {
    const double alpha = insert(t);
    if (model_.text) return alpha < model_.pstar ? 1 : alpha;
    return alpha + 1 - std::max(alpha, model_.pstar);
  }
  [[nodiscard]] double at(const Vector& y, double t) const {
    const auto next = std::lower_bound(times_.begin(), times_.end(), t);
    if (next == times_.begin()) return y.front();
    if (next == times_.end()) return y.back();
    const auto i = static_cast<std::size_t>(next - times_.begin());
    const double part = (t - times_[i - 1]) / (times_[i] - times_[i - 1]);
    return y[i - 1] * (1 - part) + y[i] * part;
  }

  // Fills in what the filter shows at times_[j] and returns the rate of death that follows.
  double look_back(std::size_t j) {
    const double t = times_[j];
    constexpr int n = 300;
    double z = 0, own_zero = 0, own_all_set = 0;  // Z, P(own bit is 0), P(own bits are all 1)
    double alive = 1, quiet = 1, own_quiet = 1;   // exp(-D), exp(-lambda(1-exp(-S))), exp(-S)
    const double first = std::min(0.25, t / 2);
    for (int i = 0; i <= n; ++i) {
      const double tau = i == n ? t : first * std::pow(t / first, static_cast<double>(i) / n);
      const double next_alive = std::exp(at(deaths_, t - tau) - deaths_[j]);
      const double next_own = std::exp(at(renewals_, t - tau) - renewals_[j]);
      const double next_quiet = std::exp(-lambda_ * (1 - next_own));
      const double next_z = z + (alive - next_alive) * 0.5 * (quiet + next_quiet);
      own_zero += (own_quiet - next_own) * 0.5 * (z + next_z);
      own_all_set += (own_quiet - next_own) * 0.5 *
                     (std::pow(1 - z, model_.k) + std::pow(1 - next_z, model_.k));
      z = next_z, alive = next_alive, quiet = next_quiet, own_quiet = next_own;
    }
    const double never = std::min(1.0, z + alive * quiet);
    const double all_set = std::pow(1 - never, model_.k);
    const double repeat = -std::expm1(-u_ * t);
    own_zero += own_quiet * never;
    zero_[j] = never;
    fpr_[j] = all_set;
    missed_[j] = std::max(0.0, repeat - own_all_set - (own_quiet - (1 - repeat)) * all_set);
    return death_rate(t, own_zero, 1 - own_all_set - own_quiet * all_set, 1 - never);
  }

  [[nodiscard]] double death_rate(double t, double own_zero, double looks_new, double fill) const {
    const double alpha = insert(t);
    if (model_.text) {
      if (t <= model_.s) return 0;
      return (alpha < model_.pstar ? alpha + (1 - alpha) * looks_new : alpha) / model_.s;
    }
    const double beta = 1 - std::max(alpha, model_.pstar);
    return alpha / model_.s + (beta > 0 ? beta * own_zero / (std::max(fill, 1e-12) * model_.s) : 0);
  }

  const RsbfModel& model_;
  double u_, lambda_;
  Vector times_, deaths_, renewals_, fpr_, missed_, zero_;
};

}  // namespace

Prediction predict_rsbf(const RsbfModel& model, const StreamModel& stream) {
  const auto grid = stream_grid(stream, 2000);
  Solver solver(model, stream);
  solver.run();
  Vector fpr(grid.size());
  for (std::size_t i = 0; i < grid.size(); ++i) fpr[i] = solver.fpr_at(grid[i]);
  Prediction p;
  p.fpr = stream_average(stream, grid, fpr, false);
  p.fnr = missed_share(stream, grid, [&](double t) { return solver.missed_at(t); });
  p.fill = solver.fill_at_end();
  return p;
}

}  // namespace weir
