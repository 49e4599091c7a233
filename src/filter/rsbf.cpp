#include "filter/rsbf.hpp"

#include <bit>

#include "core/catalog.hpp"
#include "plan/rsbf_model.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"M", "bits in all, k filters of M/k bits", "from the memory"},
    {"k", "filters, and bits a key", "from FPRt and aim"},
    {"mode", "tables (the printed results) or text (section 4's prose)", "tables"},
    {"pstar", "p*, below which insertion probability every new-looking record is taken", "0.03"},
    {"FPRt", "threshold FPR that yields k", "the requested FPR"},
    {"aim", "balance, fnr or fpr: the three ways to choose k", "balance"},
};
constexpr const char* aims[] = {"balance", "fnr", "fpr"};

std::uint64_t filters_for(double fpr, std::size_t aim) {
  const double most = std::log(fpr) / std::log1p(-1 / std::numbers::e);
  const double k = aim == 0 ? std::round((1 + most) / 2) : aim == 1 ? 1.0 : std::round(most);
  return static_cast<std::uint64_t>(std::clamp(k, 1.0, 1.0 * Rsbf::max_k));
}

}  // namespace

constinit const StructureEntry structure_rsbf = entry<Rsbf, FilterHandle>({
    .name = "rsbf",
    .kind = Kind::Filter,
    .purpose = "seen before? on an endless stream, few misses on frequent keys",
    .guarantee = "bounded FPR for ever; old keys are forgotten",
    .paper = "Dutta, Bhattacherjee, Narang 2012",
    .parameters = parameters,
    .forgets = true,
});
const StructureInfo& Rsbf::info() noexcept { return structure_rsbf; }

void Rsbf::Shape::check() const {
  if (k > M) throw Error(ErrorCode::Config, "rsbf needs at least one bit a filter: M >= k");
}

void Rsbf::complete(Params& params, const Request& request, std::uint64_t bytes) {
  const double fprt = params.take_real("FPRt", 1e-9, 0.999).value_or(request.fpr);
  const std::size_t aim = params.take_choice("aim", aims).value_or(0);
  params.fill("k", filters_for(fprt, aim));
  const std::uint64_t k = params.whole("k", 1, max_k);
  if (!params.has("M")) {
    if (bytes == 0) throw Error(ErrorCode::Config, "rsbf needs a size: give the memory or M");
    // The index takes 0.5 % of what a filter takes.
    std::uint64_t lines = bytes / k / line_bytes;
    while (lines > 1 &&
           lines * line_bytes + MarkedIndex::bytes(lines * 512, index_cluster) > bytes / k)
      --lines;
    params.fill("M", lines * 512 * k);
  }
  params.fill("mode", std::string_view("tables"));
  params.fill("pstar", 0.03);
}

Rsbf::Rsbf(const Shape& shape, std::byte* memory, RecordRandom random) noexcept
    : shape_(shape), s_(shape.s()), random_(random) {
  const std::uint64_t one = filter_bytes(s_), index = MarkedIndex::bytes(s_, index_cluster);
  for (unsigned j = 0; j < shape.k; ++j) {
    filters_[j].words = reinterpret_cast<std::uint64_t*>(memory + j * one);
    filters_[j].index =
        MarkedIndex(memory + shape.k * one + j * index, s_, index_cluster, 8, false);
  }
}

void Rsbf::prefetch(const Target& target) const noexcept {
  for (unsigned j = 0; j < shape_.k; ++j)
    prefetch_line(&filters_[j].words[target.position[j] >> 6]);
}

void Rsbf::prefetch_more(const Target& target) const noexcept {
  const bool inserts = target.luck <= insert_probability(target.ordinal);
  for (unsigned j = 0; j < shape_.k; ++j) {
    const auto fetch = [&](std::uint64_t i) { prefetch_line(&filters_[j].words[i >> 6]); };
    Draws draws = draws_of(target, j);
    fetch(draws.below(s_));
    // A filter settles with about half its bits set, so often the second or third bit is met.
    if (!inserts && shape_.mode == Mode::Tables) fetch(draws.below(s_)), fetch(draws.below(s_));
  }
}

Verdict Rsbf::observe(const Target& target) noexcept {
  const bool seen = contains(target);  // (1)
  const double probability = insert_probability(target.ordinal);
  if (shape_.mode == Mode::Tables) {
    if (target.luck <= probability)  // (2)
      replace_any(target, true);
    else if (target.luck > shape_.pstar && !seen)  // (3)
      replace_ones(target);
  } else if (target.luck <= probability || (probability < shape_.pstar && !seen)) {
    replace_any(target, target.ordinal > s_);  // (2) of the text
  }
  seen_ += seen;
  return seen ? Verdict::Seen : Verdict::New;
}

void Rsbf::replace_any(const Target& target, bool reset) noexcept {
  for (unsigned j = 0; j < shape_.k; ++j) {
    Draws draws = draws_of(target, j);
    if (reset) filters_[j].reset(draws.below(s_));
    filters_[j].set(target.position[j]);
  }
}

void Rsbf::replace_ones(const Target& target) noexcept {
  for (unsigned j = 0; j < shape_.k; ++j) {
    OneFilter& filter = filters_[j];
    if (filter.get(target.position[j])) continue;
    Draws draws = draws_of(target, j);
    if (filter.ones != 0) filter.reset(filter.choose_one(draws, s_));
    filter.set(target.position[j]);
  }
}

std::uint64_t Rsbf::OneFilter::Marks::count(std::uint64_t first, std::uint64_t end) const noexcept {
  std::uint64_t n = 0;  // first is a multiple of 64, and the bits behind the last are zero
  for (std::uint64_t w = first / 64; w < (end + 63) / 64; ++w)
    n += static_cast<unsigned>(std::popcount(filter.words[w]));
  return n;
}

void Rsbf::OneFilter::Marks::prefetch(std::uint64_t first, std::uint64_t end) const noexcept {
  for (std::uint64_t w = first / 64; w < (end + 63) / 64; w += 8) prefetch_line(filter.words + w);
}

std::uint64_t Rsbf::OneFilter::Marks::select(std::uint64_t first, std::uint64_t /*end*/,
                                             std::uint64_t rank) const noexcept {
  for (std::uint64_t w = first / 64;; ++w) {
    std::uint64_t word = filter.words[w];
    const auto set = static_cast<unsigned>(std::popcount(word));
    if (rank >= set) {
      rank -= set;
      continue;
    }
    for (; word != 0; word &= word - 1)
      if (rank-- == 0) return w * 64 + static_cast<unsigned>(std::countr_zero(word));
  }
}

void Rsbf::OneFilter::set(std::uint64_t i) noexcept {
  if (get(i)) return;
  words[i >> 6] |= std::uint64_t{1} << (i & 63);
  ++ones;
  index.mark(i, ones);
}
void Rsbf::OneFilter::reset(std::uint64_t i) noexcept {
  if (!get(i)) return;
  words[i >> 6] &= ~(std::uint64_t{1} << (i & 63));
  --ones;
  index.unmark(i);
}

// Draws until a set bit is met; where ones are rare the index finds one.
std::uint64_t Rsbf::OneFilter::choose_one(Draws& draws, std::uint64_t s) noexcept {
  if (index.wanted(ones)) {
    std::uint64_t found = draws.below(ones);
    index.find({&found, 1}, marks());
    return found;
  }
  for (;;) {
    const std::uint64_t i = draws.below(s);
    if (get(i)) return i;
  }
}

Prediction Rsbf::predict(const Shape& shape, const StreamModel& stream) {
  return predict_rsbf(
      {static_cast<double>(shape.s()), shape.k, shape.mode == Mode::Text, shape.pstar}, stream);
}

void Rsbf::verify() const {
  for (unsigned j = 0; j < shape_.k; ++j) {
    const std::uint64_t ones = filters_[j].marks().count(0, filter_bytes(s_) * 8);
    bool spill = false;
    for (std::uint64_t i = s_; i % 512 != 0; ++i) spill |= filters_[j].get(i);
    if (ones != filters_[j].ones || spill)
      throw Error(ErrorCode::BadState, "its registers do not fit its bits");
    filters_[j].index.verify(filters_[j].marks());
  }
  if (seen_ > records_) throw Error(ErrorCode::BadState, "more records seen than observed");
}

void Rsbf::health(Health& health) const noexcept {
  health.fpr = 1;
  for (unsigned j = 0; j < shape_.k; ++j) {
    const double fill = static_cast<double>(filters_[j].ones) / static_cast<double>(s_);
    health.fill += fill / shape_.k;
    health.fpr *= fill;
  }
  health.records = records_;
  health.seen = seen_;
}

}  // namespace weir
