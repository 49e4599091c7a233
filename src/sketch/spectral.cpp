#include "sketch/spectral.hpp"

#include <cmath>

#include "core/catalog.hpp"
#include "plan/bloom_sizing.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"m", "counters", "from the memory, or from the keys and the FPR"},
    {"k", "probes a key", "ln 2 * m/n, or log2(1/FPR) when the keys are unknown"},
    {"rule", "minimum-selection, minimal-increase or recurring-minimum", "minimum-selection"},
    {"bits", "width of a counter: 8, 16, 32 or 64", "32"},
};

}  // namespace

constinit const StructureEntry structure_spectral = entry<Spectral, SketchHandle>({
    .name = "spectral",
    .kind = Kind::Sketch,
    .purpose = "how often? with an error probability like a Bloom filter's; removal",
    .guarantee = "never underestimates (except rule=recurring-minimum); errors grow with the keys",
    .paper = "Cohen, Matias 2003",
    .parameters = parameters,
});
const StructureInfo& Spectral::info() noexcept { return structure_spectral; }

void Spectral::Shape::check() const {
  if (rule == Rule::RecurringMinimum && k < 2)
    throw Error(ErrorCode::Config,
                "rule=recurring-minimum needs k=2 or more: a single counter cannot recur");
}

void Spectral::complete(Params& params, const Request& request, std::uint64_t bytes) {
  params.fill("rule", std::string_view(rule_names[0]));
  params.fill("bits", std::string_view("32"));
  const bool two =
      params.choice("rule", rule_names) == static_cast<std::size_t>(Rule::RecurringMinimum);
  if (bytes != 0) {
    const auto width = static_cast<Width>(params.choice("bits", width_names));
    const std::uint64_t counters = bytes / width_bytes(width);
    params.fill("m", two ? (2 * counters + 1) / 3 : counters);  // m + m/2 counters
  }
  if (two && params.has("m")) {  // a single counter cannot recur
    const double keys = static_cast<double>(request.keys) / request.shards;
    const auto m = static_cast<double>(params.whole("m", 2, max_cells));
    params.fill("k", std::max<std::uint64_t>(bloom_probes(m, keys, request.fpr, max_k), 2));
  }
  complete_bloom(params, request, "spectral", max_k);
}

Spectral::Spectral(const Shape& shape, std::byte* memory, RecordRandom) noexcept
    : first_(memory, shape.m, shape.bits),
      second_(memory + shape.m * width_bytes(shape.bits), shape.second(), shape.bits),
      k_(shape.k),
      rule_(shape.rule) {}

std::uint64_t Spectral::add(const Target& target, std::uint64_t times) noexcept {
  if (times == 0) return estimate(target);
  const auto filled = [this](unsigned, bool was_zero) { nonzero_ += was_zero; };
  std::uint64_t before;
  if (rule_ == Rule::MinimalIncrease) {
    before = first_.minimum(target.position, k_);
    first_.raise_to(target.position, k_, saturating_sum(before, times), filled);  // (4)
  } else {
    before = first_.raise_all(target.position, k_, times, filled);  // (1)
  }
  ++records_;
  seen_ += before != 0;
  total_ = saturating_sum(total_, times);
  if (rule_ == Rule::RecurringMinimum) add_to_second(target, times);
  return estimate(target);
}

void Spectral::add_to_second(const Target& target, std::uint64_t times) noexcept {
  const auto filled = [this](unsigned, bool was_zero) { second_nonzero_ += was_zero; };
  const Counters::Least first = first_.least(target.position, k_);
  if (second_.minimum(target.second, k_) != 0)
    second_.raise_all(target.second, k_, times, filled);  // (5)
  else if (!first.recurs)
    second_.raise_all(target.second, k_, first.value, filled);  // (6)
}

std::uint64_t Spectral::estimate(const Target& target) const noexcept {
  if (rule_ != Rule::RecurringMinimum) return first_.minimum(target.position, k_);  // (2)
  const Counters::Least first = first_.least(target.position, k_);                  // (7)
  if (first.recurs) return first.value;
  const std::uint64_t second = second_.minimum(target.second, k_);
  return second == 0 ? first.value : std::min(first.value, second);
}

void Spectral::remove(const Target& target, std::uint64_t times) {
  if (rule_ == Rule::MinimalIncrease)
    throw Error(ErrorCode::Unsupported,
                "spectral with rule=minimal-increase cannot take an occurrence back: other keys' "
                "counts could become too small; rule=minimum-selection can");
  require_added(first_.minimum(target.position, k_), first_.max(), times);
  first_.lower_all(target.position, k_, times, [this](unsigned) { --nonzero_; });  // (3)
  total_ -= std::min(total_, times);
  if (rule_ != Rule::RecurringMinimum) return;
  const std::uint64_t there = second_.minimum(target.second, k_);
  second_.lower_all(target.second, k_, std::min(there, times),  // (8)
                    [this](unsigned) { --second_nonzero_; });
}

CountError Spectral::error() const noexcept {
  Health now;
  health(now);
  return {.never_below = rule_ != Rule::RecurringMinimum, .surplus = 0, .chance = now.fpr};
}

void Spectral::verify() const {
  if (nonzero_ != first_.nonzero(0, first_.count()) ||
      second_nonzero_ != second_.nonzero(0, second_.count()) || seen_ > records_)
    throw Error(ErrorCode::BadState, "its registers do not fit its counters");
}

void Spectral::health(Health& health) const noexcept {
  const auto first = static_cast<double>(first_.count());
  const auto second = static_cast<double>(second_.count());
  health.fill = static_cast<double>(nonzero_ + second_nonzero_) / (first + second);
  health.fpr = std::pow(static_cast<double>(nonzero_) / first, k_);
  health.records = records_;
  health.seen = seen_;
}

void Spectral::merge(const Spectral& other) {
  if (rule_ == Rule::RecurringMinimum)
    throw Error(ErrorCode::Unsupported,
                "spectral filters with rule=recurring-minimum cannot be merged: a key may be in "
                "one side's second filter only, and would be underestimated; the other rules can");
  first_.add(other.first_);
  nonzero_ = first_.nonzero(0, first_.count());
  total_ = saturating_sum(total_, other.total_);
  records_ += other.records_;
  seen_ += other.seen_;
}

}  // namespace weir
