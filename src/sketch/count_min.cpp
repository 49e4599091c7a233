#include "sketch/count_min.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/catalog.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"w", "counters a row", "ceil(e / epsilon), or from the memory, or from the keys and the FPR"},
    {"d", "rows", "ceil(ln(1 / delta))"},
    {"epsilon", "surplus allowed, as a share of all occurrences", "follows from w"},
    {"delta", "chance of a larger surplus", "0.01"},
    {"update", "plain or conservative", "plain"},
    {"bits", "width of a counter: 8, 16, 32 or 64", "32"},
};

void refuse_both(const Params& params, const char* size, const char* error) {
  if (params.has(size) && params.has(error))
    throw Error(ErrorCode::Config, std::string("count-min takes ") + size + " or " + error +
                                       ", not both: the one follows from the other");
}

}  // namespace

constinit const StructureEntry structure_count_min = entry<CountMin, SketchHandle>({
    .name = "count-min",
    .kind = Kind::Sketch,
    .purpose = "how often? with an error that is a stated share of the stream; merging",
    .guarantee = "never underestimates; too high by over epsilon N with probability delta at most",
    .paper = "Cormode, Muthukrishnan 2005",
    .parameters = parameters,
});
const StructureInfo& CountMin::info() noexcept { return structure_count_min; }

void CountMin::complete(Params& params, const Request& request, std::uint64_t bytes) {
  refuse_both(params, "w", "epsilon");
  refuse_both(params, "d", "delta");
  params.fill("update", std::string_view(update_names[0]));
  params.fill("bits", std::string_view("32"));
  if (!params.has("d")) {
    const double delta = params.has("delta") ? params.real("delta", 1.3e-14, 1) : 0.01;
    params.fill("d", static_cast<std::uint64_t>(std::max(std::ceil(-std::log(delta)), 1.0)));
  }
  if (params.has("w")) return;
  const std::uint64_t d = params.whole("d", 1, max_d);
  if (params.has("epsilon")) {
    const double epsilon = params.real("epsilon", 1e-13, 1);
    params.fill("w", static_cast<std::uint64_t>(std::ceil(std::numbers::e / epsilon)));
  } else if (bytes != 0) {
    const auto width = static_cast<Width>(params.choice("bits", width_names));
    params.fill("w", std::max<std::uint64_t>(bytes / width_bytes(width) / d, 1));
  } else if (request.keys != 0) {
    // A row's fill after n keys is 1 - e^(-n/w); the d-th root of the FPR is wanted.
    const double keys = static_cast<double>(request.keys) / request.shards;
    const double fill = std::pow(request.fpr, 1.0 / static_cast<double>(d));
    const double width = std::ceil(-keys / std::log1p(-fill));
    params.fill("w", static_cast<std::uint64_t>(std::max(width, 1.0)));
  } else {
    throw Error(ErrorCode::Config,
                "count-min needs a size: give epsilon, w, the memory, or the expected keys and "
                "the FPR");
  }
}

CountMin::CountMin(const Shape& shape, std::byte* memory, RecordRandom) noexcept
    : rows_(memory, shape.w * shape.d, shape.bits),
      w_(shape.w),
      d_(shape.d),
      update_(shape.update) {}

std::uint64_t CountMin::add(const Target& target, std::uint64_t times) noexcept {
  if (times == 0) return estimate(target);
  const auto filled = [this](unsigned row, bool was_zero) { nonzero_[row] += was_zero; };
  std::uint64_t before;
  if (update_ == Update::Plain) {
    before = rows_.raise_all(target.position, d_, times, filled);  // (2)
  } else {
    before = estimate(target);
    rows_.raise_to(target.position, d_, saturating_sum(before, times), filled);  // (4)
  }
  ++records_;
  seen_ += before != 0;
  total_ = saturating_sum(total_, times);
  return estimate(target);
}

void CountMin::remove(const Target& target, std::uint64_t times) {
  if (update_ == Update::Conservative)
    throw Error(ErrorCode::Unsupported,
                "count-min with update=conservative cannot take an occurrence back: other keys' "
                "counts could become too small; update=plain can");
  require_added(estimate(target), rows_.max(), times);
  rows_.lower_all(target.position, d_, times, [this](unsigned row) { --nonzero_[row]; });  // (3)
  total_ -= std::min(total_, times);
}

CountError CountMin::error() const noexcept {
  const double epsilon = std::numbers::e / static_cast<double>(w_);
  return {.surplus = epsilon * static_cast<double>(total_),
          .chance = std::exp(-static_cast<double>(d_))};
}

void CountMin::verify() const {
  bool fits = seen_ <= records_;
  for (unsigned row = 0; row < d_; ++row) fits = fits && nonzero_[row] == nonzero_in(row);
  if (!fits) throw Error(ErrorCode::BadState, "its registers do not fit its counters");
}

void CountMin::health(Health& health) const noexcept {
  health.fpr = 1;
  health.fill = 0;
  for (unsigned row = 0; row < d_; ++row) {
    const double fill = static_cast<double>(nonzero_[row]) / static_cast<double>(w_);
    health.fill += fill / d_;
    health.fpr *= fill;
  }
  health.records = records_;
  health.seen = seen_;
}

void CountMin::merge(const CountMin& other) noexcept {
  rows_.add(other.rows_);
  for (unsigned row = 0; row < d_; ++row) nonzero_[row] = nonzero_in(row);
  total_ = saturating_sum(total_, other.total_);
  records_ += other.records_;
  seen_ += other.seen_;
}

bool CountMin::sum_fits(Parts parts, Weights weights) const {
  if (update_ == Update::Conservative)
    throw Error(ErrorCode::Unsupported,
                "count-min with update=conservative has no weighted sum; update=plain has");
  std::vector<const Counters*> rows;
  Int128 total = 0;
  bool fits = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    rows.push_back(&parts[i]->rows_);
    fits &=
        !__builtin_add_overflow(total, static_cast<Int128>(parts[i]->total_) * weights[i], &total);
  }
  constexpr Int128 most = std::numeric_limits<std::uint64_t>::max();
  return fits && total >= 0 && total <= most && rows_.sum_fits(rows, weights);
}

void CountMin::set_sum(Parts parts, Weights weights) {
  std::vector<const Counters*> rows;
  std::uint64_t total = 0, records = 0, seen = 0;  // this sketch may be one of the parts
  for (std::size_t i = 0; i < parts.size(); ++i) {
    rows.push_back(&parts[i]->rows_);
    total += parts[i]->total_ * static_cast<std::uint64_t>(weights[i]);
    records = saturating_sum(records, parts[i]->records_);
    seen = saturating_sum(seen, parts[i]->seen_);
  }
  rows_.set_sum(rows, weights);
  for (unsigned row = 0; row < d_; ++row) nonzero_[row] = nonzero_in(row);
  total_ = total;
  records_ = records;
  seen_ = seen;
}

}  // namespace weir
