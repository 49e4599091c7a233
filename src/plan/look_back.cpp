#include "plan/look_back.hpp"

#include <algorithm>

#include "plan/uniform.hpp"

namespace weir {
namespace {

using Vector = std::vector<double>;

class Solver {
 public:
  Solver(const LookBackModel& model, const StreamModel& stream)
      : model_(model), u_(1 / stream.universe), lambda_(stream.universe / model.s) {
    const auto end = static_cast<double>(stream.records);
    times_.push_back(0);
    const auto geometric = [&](double from, double to, int points) {
      for (int i = 1; i <= points; ++i)
        times_.push_back(from * std::pow(to / from, static_cast<double>(i) / points));
    };
    times_.push_back(std::min(1.0, end));
    if (end > 1)
      geometric(1, std::min(end, std::max(model.s, 1.01)), 250);  // RSBF's rules change at s
    if (end > times_.back()) geometric(times_.back(), end, 1400);
  }

  void run() {
    deaths_ = renewals_ = fpr_ = missed_ = zero_ = Vector(times_.size(), 0.0);
    zero_[0] = 1;
    double rate = 0;
    for (std::size_t j = 1; j < times_.size(); ++j) {
      const double width = times_[j] - times_[j - 1];
      renewals_[j] = renewals_[j - 1] + width * u_ * model_.luck(0.5 * (times_[j] + times_[j - 1]));
      walk_back(j);
      rate = settled(
          [&, before = rate](double now) {
            deaths_[j] = deaths_[j - 1] + width * 0.5 * (before + now);
            return look_back(j);
          },
          rate);
    }
  }

  [[nodiscard]] double fpr_at(double t) const { return at(fpr_, t); }
  [[nodiscard]] double missed_at(double t) const { return at(missed_, t); }
  [[nodiscard]] double fill_at_end() const { return 1 - zero_.back(); }

 private:
  // Between times_[at - 1] and times_[at], `part` of the way.
  struct Place {
    std::size_t at;
    double part;
  };
  [[nodiscard]] Place place_of(double t) const {
    const auto next = std::lower_bound(times_.begin() + 1, times_.end() - 1, t);
    const double before = *(next - 1);
    return {static_cast<std::size_t>(next - times_.begin()),
            std::clamp((t - before) / (*next - before), 0.0, 1.0)};
  }
  static double at(const Vector& y, const Place& place) {
    return y[place.at - 1] * (1 - place.part) + y[place.at] * place.part;
  }
  [[nodiscard]] double at(const Vector& y, double t) const { return at(y, place_of(t)); }

  // The rate from which the same rate follows, by secants. Plain repetition hardly moves where a
  // filter loses as much as it gains, whatever its fill.
  template <class Follows>
  static double settled(Follows follows, double rate) {
    double off = follows(rate) - rate, next = rate + off;
    for (int round = 0; round < 100; ++round) {
      const double next_off = follows(next) - next;
      if (std::abs(next_off) <= 1e-10 * next || next_off == off) break;
      const double secant = next - next_off * (next - rate) / (next_off - off);
      rate = next, off = next_off;
      next = secant > 0 ? secant : 0.5 * rate;
    }
    return next;
  }

  // The steps back from times_[j]: their places, and what the rate of death does not change.
  void walk_back(std::size_t j) {
    const double t = times_[j], first = std::min(0.25, t / 2);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const double part = static_cast<double>(i) / static_cast<double>(steps_.size() - 1);
      const double tau = i + 1 == steps_.size() ? t : first * std::pow(t / first, part);
      Step& step = steps_[i];
      step.place = place_of(t - tau);
      step.own = std::exp(at(renewals_, step.place) - renewals_[j]);
      step.quiet = std::exp(-lambda_ * (1 - step.own));
    }
  }

  // Fills in what the filter shows at times_[j] and returns the rate of death that follows.
  double look_back(std::size_t j) {
    const double t = times_[j];
    double z = 0, own_zero = 0, own_all_set = 0;  // Z, P(own bit is 0), P(own bits are all 1)
    double alive = 1, quiet = 1, own_quiet = 1;   // exp(-D), exp(-lambda(1-exp(-S))), exp(-S)
    double set = 1;                               // (1 - Z)^k
    for (const Step& step : steps_) {
      const double next_alive = std::exp(at(deaths_, step.place) - deaths_[j]);
      const double next_z = z + (alive - next_alive) * 0.5 * (quiet + step.quiet);
      const double next_set = std::pow(1 - next_z, model_.k);
      own_zero += (own_quiet - step.own) * 0.5 * (z + next_z);
      own_all_set += (own_quiet - step.own) * 0.5 * (set + next_set);
      z = next_z, set = next_set, alive = next_alive, quiet = step.quiet, own_quiet = step.own;
    }
    const double never = std::min(1.0, z + alive * quiet);
    const double all_set = std::pow(1 - never, model_.k);
    const double repeat = -std::expm1(-u_ * t);
    own_zero += own_quiet * never;
    zero_[j] = never;
    fpr_[j] = all_set;
    missed_[j] = std::max(0.0, repeat - own_all_set - (own_quiet - (1 - repeat)) * all_set);
    return model_.death_rate({t, own_zero, 1 - own_all_set - own_quiet * all_set, 1 - never});
  }

  struct Step {
    Place place;
    double own, quiet;
  };
  const LookBackModel& model_;
  double u_, lambda_;
  Vector times_, deaths_, renewals_, fpr_, missed_, zero_;
  std::vector<Step> steps_ = std::vector<Step>(601);
};

}  // namespace

Prediction predict_by_look_back(const LookBackModel& model, const StreamModel& stream) {
  require_uniform(stream);
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
