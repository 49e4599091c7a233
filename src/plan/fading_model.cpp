#include "plan/fading_model.hpp"

#include <algorithm>

#include "plan/uniform.hpp"

namespace weir {
namespace {

using Vector = std::vector<double>;

double cubed(double x) { return x * x * x; }

// y at `t` on the grid t_i = end (i/n)^3; beyond the end the last value holds.
double at_time(const Vector& y, double end, double t) {
  if (t >= end) return y.back();
  const double x = std::cbrt(t / end) * static_cast<double>(y.size() - 1);
  const auto i = static_cast<std::size_t>(x);
  // Within an interval linear in t.
  const auto n = static_cast<double>(y.size() - 1), di = static_cast<double>(i);
  const double t0 = end * cubed(di / n), t1 = end * cubed((di + 1) / n);
  const double part = (t - t0) / (t1 - t0);
  return y[i] * (1 - part) + y[i + 1] * part;
}

double key_rate(const StreamModel& stream) { return -std::log1p(-1 / (stream.universe + 1e-9)); }

// The backward chain of predict_fading.
class LossChain {
 public:
  LossChain(const FadingModel& model, const StreamModel& stream)
      : b_(model.P / model.m),
        u_(key_rate(stream)),
        lambda_(model.K * stream.universe / model.m),
        above_(model.shares.size() + 1, 0.0) {
    for (std::size_t v = model.shares.size(); v-- > 0;) above_[v] = above_[v + 1] + model.shares[v];
  }
  [[nodiscard]] double b() const { return b_; }
  [[nodiscard]] double u() const { return u_; }
  [[nodiscard]] std::size_t top() const { return above_.size() - 1; }

  // x from tau0 to tau1, by the classic fourth-order rule in steps short against every rate.
  void advance(Vector& x, double tau0, double tau1) const {
    const double rate = b_ + lambda_ * u_;
    const auto steps = static_cast<int>(std::ceil((tau1 - tau0) * rate / 0.2)) + 1;
    const double h = (tau1 - tau0) / steps;
    Vector k1(x.size()), k2(x.size()), k3(x.size()), k4(x.size()), y(x.size());
    const auto blend = [&](const Vector& k, double f) {
      for (std::size_t v = 0; v < x.size(); ++v) y[v] = x[v] + f * k[v];
    };
    for (int i = 0; i < steps; ++i) {
      const double tau = tau0 + i * h;
      slope(x, tau, k1);
      blend(k1, h / 2), slope(y, tau + h / 2, k2);
      blend(k2, h / 2), slope(y, tau + h / 2, k3);
      blend(k3, h), slope(y, tau + h, k4);
      for (std::size_t v = 0; v < x.size(); ++v)
        x[v] += h / 6 * (k1[v] + 2 * k2[v] + 2 * k3[v] + k4[v]);
    }
  }

 private:
  void slope(const Vector& x, double tau, Vector& out) const {
    const double meet = lambda_ * u_ * std::exp(-u_ * tau);
    for (std::size_t v = 0; v < x.size(); ++v) {
      const double leave = v < top() ? b_ + meet * above_[v] : 0;
      out[v] = (v > 0 ? b_ * x[v - 1] : 0) - leave * x[v];
    }
  }

  double b_, u_, lambda_;
  Vector above_;
};

double sum(const Vector& x) {
  double s = 0;
  for (const double value : x) s += value;
  return s;
}

}  // namespace

Prediction predict_fading(const FadingModel& model, const StreamModel& stream) {
  require_uniform(stream);
  const auto grid = stream_grid(stream, 2000);
  const LossChain chain(model, stream);
  const auto top = static_cast<double>(chain.top());
  const auto length = static_cast<double>(stream.records);
  // Beyond this age every value has surely faded and nothing changes any more.
  const double end = std::min(length, (top + 10 * std::sqrt(top) + 30) / chain.b());
  constexpr std::size_t n = 240;
  Vector times(n + 1);
  for (std::size_t i = 0; i <= n; ++i) times[i] = end * cubed(static_cast<double>(i) / n);

  std::vector<Vector> x(n + 1, Vector(chain.top() + 1, 0.0));  // x_v at each age
  x[0][0] = 1;
  Vector fpr(n + 1, 0.0);
  for (std::size_t i = 1; i <= n; ++i) {
    x[i] = x[i - 1];
    chain.advance(x[i], times[i - 1], times[i]);
    fpr[i] = std::pow(1 - sum(x[i]), model.K);
  }

  // missed[j]: chance that a record at times[j] repeats a key and misses it. Its own key came gap
  // ago with value c: the cell is 0 iff c or more losses came since and no other key is alive.
  Vector missed(n + 1, 0.0);
  double missed_at_last = 0;
  for (std::size_t c = 1; c <= chain.top(); ++c) {
    const double share = model.shares[c - 1];
    if (share <= 0) continue;
    Vector before(n + 1, 0.0);  // chance of a miss at each time with the gap before, times[i]
    for (std::size_t i = 0; i <= n; ++i) {
      Vector y = x[i];
      std::fill_n(y.begin(), c, 0.0);
      Vector now(n + 1, 0.0);
      for (std::size_t j = i; j <= n; ++j) {
        if (j > i) chain.advance(y, times[j - 1], times[j]);
        now[j] = 1 - std::pow(1 - sum(y), model.K);
        if (i == 0) continue;
        const double weight = std::exp(-chain.u() * times[i - 1]) - std::exp(-chain.u() * times[i]);
        missed[j] += share * weight * 0.5 * (before[j] + now[j]);
      }
      before = now;
    }
    missed_at_last += share * before[n];
  }

  Vector values(grid.size());
  for (std::size_t i = 0; i < grid.size(); ++i) values[i] = at_time(fpr, end, grid[i]);
  Prediction p;
  p.fpr = stream_average(stream, grid, values, false);
  p.fnr = missed_share(stream, grid, [&](double t) {
    const double later =
        t > end ? missed_at_last * (std::exp(-chain.u() * end) - std::exp(-chain.u() * t)) : 0;
    return at_time(missed, end, t) + later;
  });
  p.fill = 1 - sum(x[n]);
  return p;
}

namespace {

// The chances of 0, 1, 2, ... where their sum leaves out less than 1e-4.
Vector poisson(double mean) {
  Vector chances = {std::exp(-mean)};
  for (double sum = chances[0]; sum < 1 - 1e-4 && chances.size() < 2000; sum += chances.back())
    chances.push_back(chances.back() * mean / static_cast<double>(chances.size()));
  return chances;
}

// The smallest k with P(Binomial(n, p) <= k) >= point.
unsigned binomial_quantile(unsigned n, double p, double point) {
  if (p >= 1) return n;
  double term = std::pow(1 - p, n), below = term;
  unsigned k = 0;
  while (below < point && k < n) {
    term *= p / (1 - p) * (n - k) / (k + 1);
    below += term;
    ++k;
  }
  return k;
}

// The kinds of cell that stand for all: how many keys of each class a cell has, with its share.
// The number of all keys of a cell is Poisson. Each number L gets as many kinds as its share asks
// for; if that is enough for every way to deal L keys out to the classes, these are the kinds,
// else they are spread evenly by a lattice: the powers of the root of x^(d+1) = x + 1 give steps
// that fill d dimensions.
class CellKinds {
 public:
  struct Kind {
    double share;
    Vector keys;  // by class
  };
  CellKinds(double lambda, Vector classes) : classes_(std::move(classes)) {
    if (lambda > few) {  // the numbers are near their means
      kinds_.push_back({1, {}});
      for (const double share : classes_) kinds_[0].keys.push_back(lambda * share);
      return;
    }
    const Vector chances = poisson(lambda);
    for (unsigned L = 0; L < chances.size(); ++L) {
      const double wanted = std::ceil(aim * chances[L]);
      if (ways(L) <= 2 * wanted)
        deal(L, 0, chances[L], {});
      else
        spread(L, chances[L], static_cast<unsigned>(wanted));
    }
    keep_the_means(lambda);
  }
  [[nodiscard]] const std::vector<Kind>& all() const { return kinds_; }

 private:
  static constexpr double aim = 192, few = 300;

  [[nodiscard]] double ways(unsigned L) const {
    double n = 1;
    for (std::size_t c = 1; c < classes_.size(); ++c)
      n *= (L + static_cast<double>(c)) / static_cast<double>(c);
    return n;
  }
  // Every way to deal `left` keys to class c and those behind it.
  void deal(unsigned left, std::size_t c, double share, Vector keys) {
    if (c + 1 == classes_.size()) {
      keys.push_back(left);
      kinds_.push_back({share * std::pow(classes_[c], left), std::move(keys)});
      return;
    }
    for (unsigned n = 0; n <= left; ++n) {
      Vector more = keys;
      more.push_back(n);
      deal(left - n, c + 1, share, std::move(more));
      share *= classes_[c] * (left - n) / (n + 1);
    }
  }
  void spread(unsigned L, double share, unsigned count) {
    const auto dimensions = static_cast<double>(classes_.size());
    double root = 1.5;
    for (int i = 0; i < 60; ++i) root = std::pow(1 + root, 1 / (dimensions + 1));
    for (unsigned j = 0; j < count; ++j) {
      Kind kind{share / count, {}};
      unsigned left = L;
      double rest = 1, step = 1;
      for (const double part : classes_) {
        step /= root;
        const double point = std::fmod(0.5 + step * (j + 1), 1.0);
        const unsigned n =
            binomial_quantile(left, std::min(part / std::max(rest, part), 1.0), point);
        kind.keys.push_back(n);
        left -= n;
        rest -= part;
      }
      kind.keys.back() += left;
      kinds_.push_back(std::move(kind));
    }
  }
  void keep_the_means(double lambda) {
    double all = 0;
    for (const Kind& kind : kinds_) all += kind.share;
    for (Kind& kind : kinds_) kind.share /= all;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      double mean = 0;
      for (const Kind& kind : kinds_) mean += kind.share * kind.keys[c];
      for (Kind& kind : kinds_) kind.keys[c] *= mean > 0 ? lambda * classes_[c] / mean : 0;
    }
  }

  Vector classes_;
  std::vector<Kind> kinds_;
};

// The forward chain of predict_fading_by_value.
class ValueChain {
 public:
  ValueChain(const FadingModel& model, const StreamModel& stream) : model_(model) {
    Vector classes;
    for (std::size_t v = 1; v <= top(); ++v)
      if (model.shares[v - 1] > 0) classes.push_back(model.shares[v - 1]);
    const CellKinds kinds(model.K * stream.universe / model.m, std::move(classes));
    for (const auto& [share, keys] : kinds.all()) {
      Vector rates(top() + 1, 0.0);
      std::size_t c = 0;
      for (std::size_t v = 1; v <= top(); ++v)
        if (model.shares[v - 1] > 0) rates[0] += rates[v] = keys[c++] * key_rate(stream);
      set_rate_.push_back(std::move(rates));
      share_.push_back(share);
    }
    state_.assign(share_.size(), Vector(top() + 1, 0.0));
    for (Vector& p : state_) p[0] = 1;
    trajectory_.push_back({0, mean_inverse(), state_});
  }
  [[nodiscard]] std::size_t top() const { return model_.shares.size(); }

  void run(double end) {
    double t = 0;
    while (t < end) {
      const double h = std::min({0.1 / fastest(mean_inverse()), std::max(t * 0.02, 1.0), end - t});
      auto half = state_;  // to the middle with the slope here, then across with the slope there
      move(half, state_, h / 2);
      auto next = state_;
      move(next, half, h);
      state_ = std::move(next);
      t += h;
      if (t > trajectory_.back().t * 1.03 + 0.5 || t >= end)
        trajectory_.push_back({t, mean_inverse(), state_});
    }
  }

  [[nodiscard]] double zeros_at(double t) const {
    double zeros = 0;
    const auto& state = state_at(t);
    for (std::size_t l = 0; l < share_.size(); ++l) zeros += share_[l] * state[l][0];
    return zeros;
  }

  // Chance that a record at t repeats a key and misses it.
  [[nodiscard]] double missed_at(double t, double u, unsigned K) {
    // Once the chain is steady, every moment looks back on the same past.
    if (t <= trajectory_.back().t) return integrate(look_back(t, K), t, u);
    if (steady_.empty()) steady_ = look_back(1e300, K);
    return integrate(steady_, t, u);
  }

 private:
  struct Moment {
    double t, inverse;
    std::vector<Vector> state;
  };

  struct Gap {
    double tau, missed;  // a repeat after tau records is missed with this chance
  };

  // The chance of a miss as a function of the gap, seen from t; constant beyond the last.
  [[nodiscard]] std::vector<Gap> look_back(double t, unsigned K) const {
    std::vector<Vector> zero(share_.size(),
                             Vector(top() + 1, 0.0));  // 0 at t, given the value before
    for (Vector& w : zero) w[0] = 1;
    std::vector<Gap> curve = {{0, 0}};
    double tau = 0;
    while (tau < t && !settled(zero)) {
      const double s = inverse_at(t - tau);
      const double h = std::min({0.1 / fastest(s), std::max(tau * 0.05, 0.25), t - tau});
      step_back(zero, s, h);
      tau += h;
      if (tau > curve.back().tau * 1.03 || tau >= t)
        curve.push_back({tau, missed(zero, t - tau, K)});
    }
    return curve;
  }
  static double integrate(const std::vector<Gap>& curve, double t, double u) {
    double sum = 0;
    for (std::size_t i = 1; i < curve.size() && curve[i - 1].tau < t; ++i)
      sum += (std::exp(-u * curve[i - 1].tau) - std::exp(-u * std::min(curve[i].tau, t))) * 0.5 *
             (curve[i - 1].missed + curve[i].missed);
    const double last = std::min(curve.back().tau, t);
    return sum + curve.back().missed * (std::exp(-u * last) - std::exp(-u * t));
  }

  [[nodiscard]] double mean_inverse() const { return mean_inverse(state_); }
  [[nodiscard]] double mean_inverse(const std::vector<Vector>& state) const {
    double s = 0;
    for (std::size_t l = 0; l < share_.size(); ++l)
      for (std::size_t v = 1; v <= top(); ++v)
        s += share_[l] * state[l][v] / static_cast<double>(v);
    return s;
  }
  // A cell that lives shorter than fifty records is as good as zero.
  [[nodiscard]] double loss(std::size_t v, double s) const {
    return std::min(model_.P / (model_.m * static_cast<double>(v) * std::max(s, 1e-300)), 0.02);
  }
  [[nodiscard]] double fastest(double s) const {
    double most = 0;
    for (const Vector& rates : set_rate_) most = std::max(most, rates[0]);
    return loss(1, s) + most;
  }
  // to += h * (slope at `from`)
  void move(std::vector<Vector>& to, const std::vector<Vector>& from, double h) const {
    const double s = mean_inverse(from);
    for (std::size_t l = 0; l < share_.size(); ++l) {
      double below = 0, rates_above = set_rate_[l][0];
      for (std::size_t v = 0; v <= top(); ++v) {
        const double set = v > 0 ? set_rate_[l][v] : 0;
        rates_above -= v > 0 ? set : 0;
        to[l][v] += h * (set * below - rates_above * from[l][v]);
        below += from[l][v];
        if (v == 0) continue;
        const double down = h * loss(v, s) * from[l][v];
        to[l][v] -= down, to[l][v - 1] += down;
      }
    }
  }
  void step_back(std::vector<Vector>& zero, double s, double h) const {
    for (std::size_t l = 0; l < share_.size(); ++l) {
      Vector& w = zero[l];  // from the top down, so that only old values are read below
      double rates_above = 0, raised = 0;  // raised: sum of rate times old w, over values above
      for (std::size_t v = top() + 1; v-- > 0;) {
        const double old = w[v];
        double change = raised - rates_above * old;
        if (v > 0) {
          change += loss(v, s) * (w[v - 1] - old);
          rates_above += set_rate_[l][v];
          raised += set_rate_[l][v] * old;
        }
        w[v] += h * change;
      }
    }
  }
  [[nodiscard]] std::size_t before(double t) const {  // a moment of the trajectory
    const auto next = std::upper_bound(trajectory_.begin(), trajectory_.end(), t,
                                       [](double x, const Moment& moment) { return x < moment.t; });
    return static_cast<std::size_t>(next - trajectory_.begin()) - 1;
  }
  [[nodiscard]] double inverse_at(double t) const { return trajectory_[before(t)].inverse; }
  [[nodiscard]] const std::vector<Vector>& state_at(double t) const {
    return trajectory_[before(t)].state;
  }
  // The own key came at `then` and raised the cell to its value.
  [[nodiscard]] double missed(const std::vector<Vector>& zero, double then, unsigned K) const {
    const auto& state = state_at(then);
    double chance = 0;
    for (std::size_t c = 1; c <= top(); ++c) {
      if (model_.shares[c - 1] <= 0) continue;
      double cell = 0;
      for (std::size_t l = 0; l < share_.size(); ++l)
        for (std::size_t v = 0; v <= top(); ++v)
          cell += share_[l] * state[l][v] * zero[l][std::max(v, c)];
      chance += model_.shares[c - 1] * (1 - std::pow(1 - cell, K));
    }
    return chance;
  }
  [[nodiscard]] bool settled(const std::vector<Vector>& zero) const {
    for (const Vector& w : zero)
      if (std::abs(w[top()] - w[0]) > 1e-4) return false;
    return true;
  }

  const FadingModel& model_;
  Vector share_;                  // of the cells that are of a kind
  std::vector<Vector> set_rate_;  // [kind][value]; [kind][0] is their sum
  std::vector<Vector> state_;     // [kind][value]: chance
  std::vector<Moment> trajectory_;
  std::vector<Gap> steady_;
};

}  // namespace

Prediction predict_fading_by_value(const FadingModel& model, const StreamModel& stream) {
  require_uniform(stream);
  ValueChain chain(model, stream);
  const auto length = static_cast<double>(stream.records);
  const auto top = static_cast<double>(chain.top());
  chain.run(std::min(length, 40 * top * model.m / model.P));

  const auto grid = stream_grid(stream, 32);
  const double u = key_rate(stream);
  Vector fpr(grid.size());
  for (std::size_t i = 0; i < grid.size(); ++i)
    fpr[i] = std::pow(1 - chain.zeros_at(grid[i]), model.K);
  Prediction p;
  p.fpr = stream_average(stream, grid, fpr, false);
  p.fnr = missed_share(stream, grid, [&](double t) { return chain.missed_at(t, u, model.K); });
  p.fill = 1 - chain.zeros_at(length);
  return p;
}

}  // namespace weir
