#include "filter/apbf.hpp"

#include "core/catalog.hpp"
#include "plan/apbf_model.hpp"
#include "plan/window_sizing.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"k", "slices a key is put into, and consecutive matches asked for", "longest window"},
    {"l", "further slices, the generations a key is kept for", "longest window"},
    {"m", "bits a slice", "from the memory"},
    {"g", "counted records a generation; 0: shifts by advance() only", "from window or the FPR"},
    {"count", "records (every one counts) or insertions (those put in)", "records"},
    {"refresh", "yes (a repeat renews its key) or no (counts from when it was let through)", "yes"},
    {"window", "records the guarantee must hold for, l*g", "the expected keys, or the longest"},
};

[[noreturn]] void refuse(const ApbfWish& wish, const Request& request, std::uint64_t window,
                         bool by_stream) {
  const auto held = longest_window(wish);
  const auto needed = least_memory(wish, window);
  std::uint64_t bytes = 0;
  if (needed)
    bytes =
        round_up(FilterHandle<Apbf>::overhead(request.shards) +
                     Apbf::bytes({.k = needed->k, .l = needed->l, .m = needed->m}) * request.shards,
                 page_bytes) +
        budget_reserve;
  refuse_window("apbf", request, held ? held->l * held->g : 0, window, bytes, by_stream);
}

}  // namespace

constinit const StructureEntry structure_apbf = entry<Apbf, FilterHandle>({
    .name = "apbf",
    .kind = Kind::Filter,
    .purpose = "seen before within a window of records? none of them missed",
    .guarantee = "no false negative within the last l*g records; FPR bounded for ever",
    .paper = "Shtul, Baquero, Almeida 2020",
    .parameters = parameters,
    .forgets = true,
});
const StructureInfo& Apbf::info() noexcept { return structure_apbf; }

void Apbf::complete(Params& params, const Request& request, std::uint64_t bytes) {
  params.fill("count", std::string_view("records"));
  params.fill("refresh", std::string_view("yes"));
  const auto asked = params.take_whole("window", 1, max_cells);
  const auto given = [&](const char* name, std::uint64_t least, std::uint64_t most) {
    return params.has(name) ? params.whole(name, least, most) : 0;
  };
  const auto k = static_cast<unsigned>(given("k", 1, max_k));
  const auto l = static_cast<unsigned>(given("l", 1, max_l));
  const std::uint64_t m = given("m", 1, max_cells), g = given("g", 0, max_cells);
  if (asked && g != 0)
    throw Error(ErrorCode::Config, "apbf takes window or g, not both: the window is l*g");
  if (k != 0 && l != 0 && m != 0 && params.has("g")) return;

  const std::uint64_t window = asked.value_or((request.keys + request.shards - 1) / request.shards);
  const std::uint64_t lines = bytes / line_bytes;
  const ApbfWish wish = {k != 0 ? k : 1, k != 0 ? k : max_k,
                         l != 0 ? l : 1, l != 0 ? l : max_l,
                         request.fpr,    m,
                         lines,          g};
  std::optional<ApbfPlan> plan;
  if (m == 0 && lines == 0) {
    if (window == 0 || g != 0)
      throw Error(ErrorCode::Config,
                  "apbf needs a size: give the memory, or the window and the FPR, or m");
    plan = least_memory(wish, window);
    if (!plan) throw Error(ErrorCode::Config, "apbf with this k and l has no such FPR at any size");
  } else if (window != 0 && g == 0) {
    plan = least_fpr(wish, window);
    if (plan && plan->fpr > request.fpr && m == 0) refuse(wish, request, window, params.has("g"));
  } else {
    plan = longest_window(wish);
    if (!plan) plan = least_fpr(wish, wish.least_l * std::max<std::uint64_t>(g, 1));
  }
  if (!plan) {
    const std::uint64_t least = FilterHandle<Apbf>::overhead(request.shards) + budget_reserve +
                                (wish.least_k + wish.least_l) * line_bytes * request.shards;
    throw Error(ErrorCode::Config, "apbf with " + std::to_string(request.shards) +
                                       " shard(s) needs at least " + std::to_string(least) +
                                       " bytes of memory for its slices; " +
                                       std::to_string(request.memory) + " were given");
  }
  params.fill("k", std::uint64_t{plan->k});
  params.fill("l", std::uint64_t{plan->l});
  params.fill("m", plan->m);
  params.fill("g", plan->g);
}

Prediction Apbf::predict(const Shape& shape, const StreamModel& stream) {
  return predict_apbf({shape.k, shape.l, static_cast<double>(shape.m), static_cast<double>(shape.g),
                       shape.count == Count::Insertions, shape.refresh == Refresh::Yes},
                      stream);
}

Apbf::Apbf(const Shape& shape, std::byte* memory, RecordRandom) noexcept
    : words_(reinterpret_cast<std::uint64_t*>(memory)),
      m_(shape.m),
      g_(shape.g),
      slice_words_(Slice::units(shape.m) * line_bytes / 8),
      pace_(shape.g == 0 ? 1 : (Slice::units(shape.m) + shape.g - 1) / shape.g),
      k_(shape.k),
      slots_(shape.k + shape.l),
      count_insertions_(shape.count == Count::Insertions),
      refresh_(shape.refresh == Refresh::Yes),
      swept_(Slice::units(shape.m)) {}

// How many slices match from age k on. The first that does not rules out every run with it, and the
// next one to look for ends k ages behind it.
void Apbf::begin(Target& target) const noexcept {
  target.shifts = shifts_;
  target.front = 0;
  while (target.front < k_ && k_ + target.front < slots_) {
    const Place place = unit_at(target.digest, k_ + target.front);
    if (!Slice::get(place.unit, place.bit)) break;
    ++target.front;
  }
  target.found = target.front == k_;
  target.first = k_ + target.front + 1;
  target.age = target.last = k_ + target.front + k_;
  aim(target);
}

void Apbf::aim(Target& target) const noexcept {
  target.searching = !target.found && target.last < slots_;
  if (!target.searching) return;
  const Place place = unit_at(target.digest, target.age);
  target.unit = place.unit;
  target.bit = place.bit;
  prefetch_line(place.unit);
}

// A hit goes on to the next younger slice, a miss at age j to the run that ends at j + k; that
// one's part up to the old end is known to match. Whether it is a hit cannot be foreseen: no
// branch.
void Apbf::step(Target& target) const noexcept {
  const bool hit = Slice::get(target.unit, target.bit);
  const unsigned beyond = target.age + k_;
  target.first = hit ? target.first : target.last + 1;
  target.last = hit ? target.last : beyond;
  target.age = hit ? target.age - 1 : beyond;
  target.found = target.age < target.first;
  aim(target);
}

void Apbf::search(Target& target) const noexcept {
  begin(target);
  while (target.searching) step(target);
}

// How many of the k youngest match, counted from the oldest of them.
unsigned Apbf::young_run(Digest digest) const noexcept {
  unsigned run = 0;
  for (unsigned age = 0; age < k_; ++age) {
    const Place place = unit_at(digest, age);
    const bool hit =
        Slice::get(place.unit, place.bit) && (age != 0 || Slice::mark_of(place.unit) == mark_);
    run = hit ? run + 1 : 0;
  }
  return run;
}

// (2), with what young_run() would have said before. Copies of members stay in registers, whatever
// is written to memory.
unsigned Apbf::insert(Digest digest) noexcept {
  const std::uint64_t m = m_, slice_words = slice_words_;
  const unsigned k = k_, slots = slots_;
  std::uint64_t* const words = words_;
  unsigned run = 0, s = static_cast<unsigned>(head_);
  for (unsigned age = 0; age < k; ++age) {
    const std::uint64_t position = reduce(mix(digest, s), m);
    std::uint64_t* const unit = Slice(words + s * slice_words, m).unit_of(position);
    if (age == 0) Slice::renew(unit, static_cast<unsigned>(mark_));
    const bool hit = Slice::set(unit, Slice::bit_of(position));
    ones_[s] += !hit;
    run = hit ? run + 1 : 0;
    if (++s == slots) s = 0;
  }
  return run;
}

void Apbf::observe_group(Target* targets, std::size_t count, Verdict* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) targets[i].shard->begin(targets[i]);
  for (bool any = true; any;) {
    any = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!targets[i].searching) continue;
      targets[i].shard->step(targets[i]);
      any = true;
    }
  }
  for (std::size_t i = 0; i < count; ++i) out[i] = targets[i].shard->finish(targets[i]);
}

Verdict Apbf::finish(Target& target) noexcept {
  if (target.shifts != shifts_) search(target);
  const unsigned run = refresh_ ? insert(target.digest) : young_run(target.digest);
  const bool seen = target.found || run + target.front >= k_;  // (1)
  if (!refresh_ && !seen) insert(target.digest);
  if (!count_insertions_ || refresh_ || !seen) {
    slice(static_cast<unsigned>(head_)).sweep(swept_, pace_, static_cast<unsigned>(mark_));
    if (g_ != 0 && ++counted_ == g_) shift();
  }
  return seen ? Verdict::Seen : Verdict::New;
}

bool Apbf::contains(Target target) const noexcept {
  search(target);
  return target.found || young_run(target.digest) + target.front >= k_;
}

void Apbf::shift() noexcept {  // (3)
  const auto youngest = static_cast<unsigned>(head_);
  slice(youngest).sweep(swept_, m_, static_cast<unsigned>(mark_));
  head_ = youngest == 0 ? slots_ - 1 : youngest - 1;
  const Slice retired = slice(static_cast<unsigned>(head_));
  mark_ = 1 - Slice::mark_of(retired.unit(0));
  swept_ = 0;
  ones_[head_] = 0;
  counted_ = 0;
  ++shifts_;
}

void Apbf::advance(std::uint32_t generations) noexcept {
  for (std::uint32_t i = 0; i < std::min(generations, slots_); ++i) shift();
}

// The slices that would be emptied do not count.
bool Apbf::contains_after(const Target& target, std::uint32_t generations) const noexcept {
  unsigned run = 0;
  for (unsigned age = 0; age + std::uint64_t{generations} < slots_ && run < k_; ++age) {
    const Place place = unit_at(target.digest, age);
    const bool hit =
        Slice::get(place.unit, place.bit) && (age != 0 || Slice::mark_of(place.unit) == mark_);
    run = hit ? run + 1 : 0;
  }
  return run == k_;
}

void Apbf::verify() const {
  if (head_ >= slots_ || mark_ > 1 || seen_ > records_ ||
      (g_ == 0 ? counted_ != 0 : counted_ >= g_))
    throw Error(ErrorCode::BadState, "its registers do not fit its parameters");
  for (unsigned age = 0; age < slots_; ++age) {
    const Slice one = slice(slot(age));
    const std::uint64_t ones = age == 0 ? one.count(static_cast<unsigned>(mark_), swept_)
                                        : one.count(Slice::mark_of(one.unit(0)), Slice::units(m_));
    if (ones != ones_[slot(age)])
      throw Error(ErrorCode::BadState, "its counts do not fit its bits");
  }
}

void Apbf::health(Health& health) const noexcept {
  double fills[max_k + max_l];
  for (unsigned age = 0; age < slots_; ++age) {
    const std::uint64_t ones = ones_[(head_ % slots_ + age) % slots_];  // not verified yet, maybe
    fills[age] = static_cast<double>(ones) / static_cast<double>(m_);
    health.fill += fills[age] / slots_;
  }
  health.fpr = apbf_fpr({fills, slots_}, k_);
  health.records = records_;
  health.seen = seen_;
}

}  // namespace weir
