#include "filter/a2.hpp"

#include "core/catalog.hpp"
#include "plan/a2_model.hpp"
#include "plan/window_sizing.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"m", "bits a buffer, two of them", "from the memory"},
    {"k", "probes a key", "longest window"},
    {"g", "counted records a generation; 0: swaps by advance() only", "from window or the FPR"},
    {"count", "insertions (records put in) or records (every one counts)", "insertions"},
    {"refresh", "yes (a repeat renews its key) or no (counts from when it was let through)", "yes"},
    {"window", "counted records the guarantee must hold for, g",
     "the expected keys, or the longest"},
};

}  // namespace

constinit const StructureEntry structure_a2 = entry<A2, FilterHandle>({
    .name = "a2",
    .kind = Kind::Filter,
    .purpose = "seen before within a window? few lines of memory a record",
    .guarantee = "no false negative within the last g insertions; FPR bounded for ever",
    .paper = "Yoon 2010",
    .parameters = parameters,
    .forgets = true,
});
const StructureInfo& A2::info() noexcept { return structure_a2; }

void A2::complete(Params& params, const Request& request, std::uint64_t bytes) {
  params.fill("count", std::string_view("insertions"));
  params.fill("refresh", std::string_view("yes"));
  const auto asked = params.take_whole("window", 1, max_cells);
  const std::uint64_t g = params.has("g") ? params.whole("g", 0, max_cells) : 0;
  if (asked && g != 0)
    throw Error(ErrorCode::Config, "a2 takes window or g, not both: the window is g");
  const std::uint64_t expected = (request.keys + request.shards - 1) / request.shards;
  const std::uint64_t window = g != 0 ? g : asked.value_or(expected);

  const bool k_given = params.has("k");
  const auto bits_for = [&](std::uint64_t records) {  // a buffer
    const double many = 1e12;                         // the best k hardly depends on the size
    const auto k = k_given ? static_cast<unsigned>(params.whole("k", 1, max_k))
                           : a2_probes(many, request.fpr, max_k);
    return a2_bits(k, records, request.fpr, Buffer::unit_bits);
  };
  const bool m_given = params.has("m");
  if (!m_given && bytes == 0 && window == 0)
    throw Error(ErrorCode::Config,
                "a2 needs a size: give the memory, or the window and the FPR, or m");
  if (!m_given)
    params.fill("m", bytes != 0 ? bytes / line_bytes * Buffer::unit_bits : bits_for(window));
  const auto m = static_cast<double>(params.whole("m", 1, max_cells));
  params.fill("k", std::uint64_t{window != 0 ? a2_probes_for(m, window, max_k)
                                             : a2_probes(m, request.fpr, max_k)});
  const auto k = static_cast<unsigned>(params.whole("k", 1, max_k));
  if (!m_given && g == 0 && window != 0 &&
      a2_full_fpr(k, m, static_cast<double>(window)) > request.fpr) {
    const std::uint64_t all = round_up(FilterHandle<A2>::overhead(request.shards) +
                                           A2::bytes({.m = bits_for(window)}) * request.shards,
                                       page_bytes);
    refuse_window("a2", request,
                  a2_capacity(k_given ? k : a2_probes(m, request.fpr, max_k), m, request.fpr),
                  window, all + budget_reserve, params.has("g"));
  }
  params.fill("g",
              window != 0 ? window : std::max<std::uint64_t>(a2_capacity(k, m, request.fpr), 1));
}

Prediction A2::predict(const Shape& shape, const StreamModel& stream) {
  return predict_a2({shape.k, static_cast<double>(shape.m), static_cast<double>(shape.g),
                     shape.count == Count::Insertions, shape.refresh == Refresh::Yes},
                    stream);
}

A2::A2(const Shape& shape, std::byte* memory, RecordRandom) noexcept
    : words_(reinterpret_cast<std::uint64_t*>(memory)),
      m_(shape.m),
      g_(shape.g),
      pace_(shape.g == 0 ? 1 : (Buffer::units(shape.m) + shape.g - 1) / shape.g),
      k_(shape.k),
      count_insertions_(shape.count == Count::Insertions),
      refresh_(shape.refresh == Refresh::Yes),
      swept_(Buffer::units(shape.m)) {}

A2::Found A2::find(const Target& target) const noexcept {  // (1)
  const std::uint64_t active = active_ * half, old = half - active;
  bool in_active = true, in_old = true;
  for (unsigned i = 0; i < k_; ++i) {
    in_active &= Buffer::get(target.line[i] + active, target.bit[i]);
    in_old &= Buffer::get(target.line[i] + old, target.bit[i]);
  }
  if (swept_ != Buffer::units(m_))
    for (unsigned i = 0; i < k_; ++i)
      in_active &= Buffer::mark_of(target.line[i] + active) == mark_;
  return {in_active, in_old};
}

// (2). Copies of members stay in registers, whatever is written to memory.
void A2::insert(const Target& target) noexcept {
  const std::uint64_t active = active_ * half, old = half - active;
  const auto mark = static_cast<unsigned>(mark_);
  std::uint64_t fresh = 0, both = 0;
  for (unsigned i = 0, k = k_; i < k; ++i) {
    std::uint64_t* const unit = target.line[i] + active;
    Buffer::renew(unit, mark);
    const std::uint64_t adds = Buffer::set(unit, target.bit[i]) ? 0 : 1;
    fresh += adds;
    both += adds & std::uint64_t{Buffer::get(target.line[i] + old, target.bit[i])};
  }
  ones_[active_] += fresh;
  both_ += both;
}

Verdict A2::observe(const Target& target) noexcept {
  const Found found = find(target);
  const bool seen = found.active || found.old;
  const bool inserts = !found.active && (refresh_ || !seen);
  if (inserts) insert(target);
  if (inserts || !count_insertions_) {
    buffer(active_).sweep(swept_, pace_, static_cast<unsigned>(mark_));
    if (g_ != 0 && ++counted_ == g_) swap();
  }
  ++records_;
  seen_ += seen;
  return seen ? Verdict::Seen : Verdict::New;
}

void A2::swap() noexcept {  // (3)
  buffer(active_).sweep(swept_, m_, static_cast<unsigned>(mark_));
  active_ = 1 - active_;
  mark_ = 1 - Buffer::mark_of(buffer(active_).unit(0));
  swept_ = 0;
  ones_[active_] = both_ = 0;
  counted_ = 0;
}

void A2::advance(std::uint32_t generations) noexcept {
  for (std::uint32_t i = 0; i < std::min(generations, 2U); ++i) swap();
}

std::uint64_t A2::count_both() const noexcept {
  std::uint64_t both = 0;
  for (std::uint64_t i = 0; i < Buffer::units(m_); ++i) {
    const std::uint64_t *const active = buffer(active_).unit(i), *const old =
                                                                     buffer(1 - active_).unit(i);
    if (Buffer::mark_of(active) != mark_) continue;
    for (unsigned w = 0; w < half; ++w)
      both += static_cast<unsigned>(std::popcount(active[w] & old[w]));
    both -= Buffer::mark_of(active) & Buffer::mark_of(old);
  }
  return both;
}

void A2::verify() const {
  if (active_ > 1 || mark_ > 1 || seen_ > records_ || (g_ == 0 ? counted_ != 0 : counted_ >= g_))
    throw Error(ErrorCode::BadState, "its registers do not fit its parameters");
  const Buffer active = buffer(active_), old = buffer(1 - active_);
  if (active.count(static_cast<unsigned>(mark_), swept_) != ones_[active_] ||
      old.count(Buffer::mark_of(old.unit(0)), Buffer::units(m_)) != ones_[1 - active_] ||
      count_both() != both_)
    throw Error(ErrorCode::BadState, "its counts do not fit its bits");
}

void A2::health(Health& health) const noexcept {
  const auto m = static_cast<double>(m_);
  const auto share = [m](std::uint64_t ones) { return static_cast<double>(ones) / m; };
  health.fill = (share(ones_[0]) + share(ones_[1])) / 2;
  health.fpr =
      std::pow(share(ones_[0]), k_) + std::pow(share(ones_[1]), k_) - std::pow(share(both_), k_);
  health.records = records_;
  health.seen = seen_;
}

}  // namespace weir
