#include "plan/sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/bits.hpp"
#include "core/catalog.hpp"

namespace weir {
namespace {

// The request for the same filter with 1/s of the cells and keys.
Request small_request(std::string_view spec, const Request& request, double share) {
  const Sized whole = size_structure(spec, request);
  Request small = request;
  small.shards = 1;
  const double cells = static_cast<double>(whole.payload) * request.shards * share;
  small.memory =
      static_cast<std::uint64_t>(cells + 64) / 64 * 64 + whole.entry->overhead(1) + budget_reserve;
  if (request.keys != 0)
    small.keys = static_cast<std::uint64_t>(std::ceil(static_cast<double>(request.keys) * share));
  return small;
}

}  // namespace

bool StreamSample::chosen(Digest digest) const noexcept {
  // A mix that no structure uses for its positions.
  return static_cast<double>(mix(digest, 0x5a3b1e) >> 11) * 0x1.0p-53 < share_;
}

void StreamSample::add(std::span<const Digest> digests) {
  if (met_.capacity() == 0) met_.reserve(most_);
  for (const Digest digest : digests) {
    ++records_;
    if (!chosen(digest)) continue;
    while (met_.size() == most_) {
      share_ /= 2;
      std::erase_if(met_, [&](const Met& met) { return !chosen(met.digest); });
    }
    if (chosen(digest)) met_.push_back({digest, records_});
  }
}

void StreamSample::finish() {
  std::vector<std::uint32_t> order(met_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return met_[a].digest != met_[b].digest ? met_[a].digest < met_[b].digest : a < b;
  });
  first_.assign(met_.size(), false);
  distances_.clear();
  firsts_ = late_firsts_ = once_ = 0;
  const auto same = [&](std::size_t i, std::size_t j) {
    return j < order.size() && met_[order[i]].digest == met_[order[j]].digest;
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && same(i - 1, i)) {
      distances_.push_back(static_cast<double>(met_[order[i]].at - met_[order[i - 1]].at));
      continue;
    }
    first_[order[i]] = true;
    ++firsts_;
    late_firsts_ += met_[order[i]].at > records_ / 2;
    once_ += !same(i, i + 1);
  }
  std::sort(distances_.begin(), distances_.end());
}

double StreamSample::distinct() const noexcept { return static_cast<double>(firsts_) / share_; }

double StreamSample::keys_met_once() const noexcept {
  return firsts_ == 0 ? 0 : static_cast<double>(once_) / static_cast<double>(firsts_);
}

double StreamSample::distance(double quantile) const {
  if (distances_.empty()) return 0;
  return distances_[static_cast<std::size_t>(quantile *
                                             static_cast<double>(distances_.size() - 1))];
}

double StreamSample::distinct_after(std::uint64_t records) const {
  const double more = static_cast<double>(records) - static_cast<double>(records_);
  const double half = std::max(1.0, static_cast<double>(records_ - records_ / 2));
  return distinct() + std::max(0.0, more) * static_cast<double>(late_firsts_) / share_ / half;
}

std::uint64_t StreamSample::miniature(std::string_view spec, const Request& request) const {
  return static_cast<std::uint64_t>(static_cast<double>(size_structure(spec, request).payload) *
                                    request.shards * share_);
}

Prediction StreamSample::expect(std::string_view spec, const Request& request,
                                std::uint64_t records, std::uint64_t window) const {
  std::string whole_spec(spec), small_spec(spec);
  if (window != 0) {
    // A window is of records, and of these the sample has its own share.
    const double in = static_cast<double>(met_.size()) / static_cast<double>(records_);
    const char* const sign = spec.find(':') == std::string_view::npos ? ":window=" : ",window=";
    whole_spec += sign + std::to_string(window);
    small_spec += sign + std::to_string(std::max<std::uint64_t>(
                             1, static_cast<std::uint64_t>(static_cast<double>(window) * in)));
  }
  const FilterPtr filter = make_filter(small_spec, small_request(whole_spec, request, share_));
  constexpr std::size_t batch = 1024;
  std::vector<Digest> digests(batch);
  std::vector<Verdict> verdicts(batch);
  const std::size_t every = std::max(batch, met_.size() / 64 / batch * batch);
  double fpr = filter->health().fpr, fpr_sum = 0, firsts = 0, misses = 0, late_misses = 0;
  double firsts_here = 0;
  for (std::size_t at = 0; at < met_.size(); at += batch) {
    const std::size_t n = std::min(batch, met_.size() - at);
    for (std::size_t i = 0; i < n; ++i) digests[i] = met_[at + i].digest;
    filter->observe(std::span(digests).first(n), std::span(verdicts).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      if (first_[at + i]) {
        firsts_here += 1;
      } else if (verdicts[i] == Verdict::New) {
        misses += 1;
        late_misses += met_[at + i].at > records_ / 2;
      }
    }
    if ((at + n) % every == 0 || at + n == met_.size()) {
      const double now = filter->health().fpr;
      fpr_sum += firsts_here * 0.5 * (fpr + now);
      firsts += firsts_here;
      firsts_here = 0;
      fpr = now;
    }
  }
  // What comes behind the sample is like its second half.
  const auto n = static_cast<double>(records_);
  const double more = std::max(0.0, static_cast<double>(records) - n) / std::max(1.0, n - n / 2);
  const double all_misses = (misses + more * late_misses) / share_;
  const double length = std::max(n, static_cast<double>(records));
  const double repeats = length - distinct_after(records);
  const double late = more * static_cast<double>(late_firsts_);
  Prediction p;
  p.fnr = repeats > 0 ? std::min(1.0, all_misses / repeats) : 0;
  p.fpr = firsts + late > 0 ? (fpr_sum + late * fpr) / (firsts + late) : 0;
  p.fill = filter->health().fill;
  return p;
}

}  // namespace weir
