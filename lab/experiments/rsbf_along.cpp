#include "rsbf_along.hpp"

#include <algorithm>
#include <cmath>

#include "core/bits.hpp"
#include "rsbf.hpp"
#include "weir/catalog.hpp"

namespace weir::lab {
namespace {

class ClickStream final : public Stream {
 public:
  ClickStream(const Clicks& what, std::uint64_t records, std::uint64_t seed)
      : what_(what), draws_(mix(seed, 12)) {
    past_.reserve(records);
  }
  std::size_t fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) override {
    for (std::uint64_t& key : keys) {
      const bool fresh = draws_.unit() < what_.fresh;
      const double distance = std::floor(std::pow(1 - draws_.unit(), -1 / what_.alpha));
      if (fresh || distance > static_cast<double>(past_.size()))
        past_.push_back(next_key_++);
      else
        past_.push_back(past_[past_.size() - static_cast<std::size_t>(distance)]);
      key = past_.back();
    }
    std::fill(weights.begin(), weights.end(), 1);
    return keys.size();
  }

 private:
  Clicks what_;
  Draws draws_;
  std::vector<std::uint32_t> past_;
  std::uint32_t next_key_ = 0;
};

class Replay final : public Stream {
 public:
  explicit Replay(Trace trace) : trace_(std::move(trace)) {}
  std::size_t fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) override {
    const std::size_t n = std::min(keys.size(), trace_.keys.size() - at_);
    std::copy_n(trace_.keys.begin() + static_cast<std::ptrdiff_t>(at_), n, keys.begin());
    std::fill(weights.begin(), weights.end(), 1);
    at_ += n;
    return n;
  }
  [[nodiscard]] std::uint64_t universe() const override { return trace_.distinct; }

 private:
  Trace trace_;
  std::size_t at_ = 0;
};

// The number of ones after every step.
struct Ones {
  std::vector<float> after;
  [[nodiscard]] double change(std::size_t i) const {
    return double{after[i]} - double{i == 0 ? 0.0F : after[i - 1]};
  }
  // Root of the mean square change of the steps [from, to).
  [[nodiscard]] double tremor(std::size_t from, std::size_t to) const {
    double squares = 0;
    for (std::size_t i = from; i < to; ++i) squares += change(i) * change(i);
    return to > from ? std::sqrt(squares / static_cast<double>(to - from)) : 0;
  }
  [[nodiscard]] std::size_t steps_to_level() const {
    double mean = 0;
    const std::size_t half = after.size() / 2;
    for (std::size_t i = half; i < after.size(); ++i)
      mean += double{after[i]} / static_cast<double>(after.size() - half);
    std::size_t i = 0;
    while (i < after.size() && std::abs(double{after[i]} - mean) > 0.05 * mean) ++i;
    return i + 1;
  }
  [[nodiscard]] std::size_t steps_to_calm(double threshold) const {
    std::size_t i = after.size();
    while (i > 0 && std::abs(change(i - 1)) <= threshold) --i;
    return i;
  }
};

}  // namespace

std::unique_ptr<Stream> clicks(const Clicks& what, std::uint64_t records, std::uint64_t seed) {
  return std::make_unique<ClickStream>(what, records, seed);
}
std::unique_ptr<Stream> replay(Trace trace) { return std::make_unique<Replay>(std::move(trace)); }

std::vector<Measurement> run_along(const Along& what, Stream& stream, std::uint64_t seed) {
  const FilterPtr filter = make_filter(what.spec, {.seed = seed});
  const auto oracle = numbered_oracle(what.keys);
  const std::string parameters = filter->parameters();
  std::vector<Measurement> all;
  const auto keep = [&](double x, const char* name, double value) {
    all.push_back({what.row, what.series, parameters, seed, x, name, value});
  };
  const std::uint64_t gap = std::max<std::uint64_t>(what.records / what.points, 1);
  std::uint64_t next_point = gap;
  std::size_t steps_before = 0;
  Measured so_far, before;
  Ones ones;
  follow(*filter, stream, *oracle, what.records, seed, [&](const Batch& batch) {
    count(batch, so_far);
    const std::uint64_t at = batch.at + batch.keys.size();
    const Health health = filter->health();
    if (batch.keys.size() == follow_batch)
      ones.after.push_back(static_cast<float>(health.fill * static_cast<double>(what.bits)));
    if (at < next_point) return;
    const auto x = static_cast<double>(next_point);
    const Rate lately{so_far.fnr.events - before.fnr.events, so_far.fnr.of - before.fnr.of};
    keep(x, "fnr", so_far.fnr.value());
    keep(x, "fpr", so_far.fpr.value());
    keep(x, "fnr lately", lately.value());
    keep(x, "fpr now", health.fpr);
    keep(x, "ones", health.fill);
    keep(x, "change", ones.tremor(steps_before, ones.after.size()));
    before = so_far, steps_before = ones.after.size();
    next_point += gap;
  });
  const auto step = static_cast<double>(follow_batch);
  keep(0, "level", step * static_cast<double>(ones.steps_to_level()));
  keep(0, "calm", step * static_cast<double>(ones.steps_to_calm(what.threshold)));
  keep(0, "tremor", ones.tremor(ones.after.size() / 2, ones.after.size()));
  return all;
}

}  // namespace weir::lab
