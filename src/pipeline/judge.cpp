#include "pipeline/judge.hpp"

#include <algorithm>

#include "source/byte_stream.hpp"
#include "weir/catalog.hpp"

namespace weir {
namespace {

// With more shards than this a chunk has too few records for each to be worth a turn.
constexpr std::uint32_t most_lanes = 64;

// Takes the bad records' places out; returns how many are left.
template <class T>
std::size_t without_bad(std::span<T> items, const std::vector<Chunk::Bad>& bad, std::size_t heads) {
  std::size_t kept = 0, next = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (next < bad.size() && bad[next].record == i + heads)
      ++next;
    else
      items[kept++] = items[i];
  }
  return kept;
}

// Puts them in again, from the back.
template <class T>
void with_bad(std::span<T> items, std::size_t kept, const std::vector<Chunk::Bad>& bad,
              std::size_t heads, T value) {
  std::size_t next = bad.size();
  while (next > 0 && bad[next - 1].record >= items.size() + heads) --next;
  for (std::size_t i = items.size(); i-- > 0;) {
    if (next > 0 && bad[next - 1].record == i + heads)
      items[i] = value, --next;
    else
      items[i] = items[--kept];
  }
}

}  // namespace

Judge::Judge(Structure& structure, const DedupOptions& options, const Keys& keys)
    : options_(options), keys_(keys), read_only_(options.read_only), take_back_(options.take_back) {
  if (structure.info().kind == Kind::Filter) filter_ = static_cast<Filter*>(&structure);
  if (structure.info().kind == Kind::Sketch) sketch_ = static_cast<Sketch*>(&structure);
  if (options.emit == Emit::Nothing) top_ = as_top(structure);
  if (filter_ != nullptr && options.threads > 1 && !read_only_ && filter_->shards() <= most_lanes)
    lanes_ = filter_->shards();
  turns_ = std::make_unique<Turn[]>(lanes_);
  const bool goes_on = options.position && options.position->window;
  if (goes_on || options.window)
    clock_.emplace(goes_on ? *options.position->window : *options.window);
}

std::optional<Window> Judge::window() const {
  return clock_ ? std::optional(clock_->window()) : std::nullopt;
}

void Judge::end_with(std::uint64_t number) noexcept {
  std::uint64_t last = last_.load();
  while (number < last && !last_.compare_exchange_weak(last, number)) {
  }
}

void Judge::abandon() noexcept {
  for (std::uint32_t i = 0; i < lanes_; ++i) turns_[i].abandon();
  clock_turn_.abandon();
}

void Judge::judge(Chunk& chunk, Scratch& scratch) {
  const std::size_t heads = chunk.heads;
  const std::size_t judged = chunk.piece ? heads : chunk.judged;
  chunk.verdicts.resize(chunk.records());
  if (sketch_ != nullptr) chunk.counts.resize(chunk.records());
  auto digests = chunk.digests.all().subspan(heads, judged - heads);
  auto weights = std::span<std::uint32_t>();
  if (!chunk.weights.empty()) weights = chunk.weights.all().subspan(heads, judged - heads);
  auto times = std::span<std::int64_t>();
  if (!chunk.times.empty()) times = chunk.times.all().subspan(heads, judged - heads);
  const bool some_bad = !chunk.bad.empty() && !chunk.piece;
  if (some_bad) {
    const std::size_t good = without_bad(digests, chunk.bad, heads);
    digests = digests.first(good);
    if (!weights.empty()) weights = weights.first(without_bad(weights, chunk.bad, heads));
    if (!times.empty()) times = times.first(without_bad(times, chunk.bad, heads));
  }
  scratch.cuts.clear();
  if (clock_ && !read_only_) set_clock(chunk, times, digests.size(), scratch.cuts);
  const auto verdicts = chunk.verdicts.all().subspan(heads, digests.size());
  if (lanes_ > 1)
    judge_by_shard(chunk, scratch, digests, weights, verdicts);
  else
    judge_in_turn(chunk, scratch, digests, weights, verdicts);
  if (some_bad) {
    const auto all = chunk.verdicts.all().subspan(heads, judged - heads);
    with_bad(all, digests.size(), chunk.bad, heads, Verdict::New);
    if (sketch_ != nullptr)
      with_bad(chunk.counts.all().subspan(heads, judged - heads), digests.size(), chunk.bad, heads,
               std::uint64_t{0});
  }
}

void Judge::set_clock(const Chunk& chunk, std::span<const std::int64_t> times, std::size_t records,
                      std::vector<WindowClock::Cut>& cuts) {
  clock_turn_.wait(chunk.number);
  if (!ended_before(chunk.number) && records > 0) {
    switch (clock_->window().clock) {
      case Window::Clock::Records:
        clock_->count(records, cuts);
        break;
      case Window::Clock::Arrival:
        clock_->arrive(chunk.arrived, cuts);
        break;
      case Window::Clock::Event:
        clock_->happen(times, cuts);
        break;
    }
  }
  clock_turn_.pass();
}

void Judge::judge_in_turn(Chunk& chunk, Scratch& scratch, Digests digests, Weights weights,
                          std::span<Verdict> verdicts) {
  const auto counts = sketch_ != nullptr ? chunk.counts.all().subspan(chunk.heads, digests.size())
                                         : std::span<std::uint64_t>();
  if (read_only_) {
    if (filter_ != nullptr) return filter_->contains(digests, verdicts);
    sketch_->estimate(digests, counts);
    for (std::size_t i = 0; i < counts.size(); ++i)
      verdicts[i] = counts[i] > 0 ? Verdict::Seen : Verdict::New;
    return;
  }
  turns_[0].wait(chunk.number);
  if (!ended_before(chunk.number)) {
    if (take_back_)
      take_back(chunk, digests);
    else if (top_ != nullptr)
      meet_and_name(chunk, scratch, digests, counts);
    else if (sketch_ != nullptr)
      sketch_->add(digests, counts);
    else
      observe_window(*filter_, clock_ ? clock_->window().kind : Window::Kind::Sliding, scratch.cuts,
                     digests, weights, verdicts);
  }
  turns_[0].pass();
  if (take_back_) std::ranges::fill(counts, std::uint64_t{1});  // nothing is asked for them
  for (std::size_t i = 0; i < counts.size(); ++i)
    verdicts[i] = counts[i] > 1 ? Verdict::Seen : Verdict::New;
}

// Whatever this throws ends the run before anything is saved.
void Judge::take_back(const Chunk& chunk, Digests digests) {
  const std::size_t done = sketch_->remove(digests);
  if (done == digests.size()) return;
  std::size_t record = chunk.heads + done;  // the bad ones were taken out
  for (const Chunk::Bad& bad : chunk.bad) record += bad.record <= record ? 1 : 0;
  throw Error(ErrorCode::BadInput,
              shown_name(options_.inputs[chunk.input]) + ", record " +
                  std::to_string(chunk.first_record + record) +
                  ": its key did not come as often as it is to be taken back; no state is saved");
}

// The text of a key is put together only when the key takes a slot. It belongs into the turn: when
// the next chunk has been met, the key may be gone.
void Judge::meet_and_name(const Chunk& chunk, Scratch& s, Digests digests,
                          std::span<std::uint64_t> counts) {
  s.entered.resize(digests.size());
  const auto entered = s.entered.all().first(top_->meet(digests, s.entered.all()));
  std::ranges::fill(counts, std::uint64_t{2});  // all that is told is first ones and repeats
  const std::uint64_t room = top_->text_room();
  s.texts.clear();
  s.text.clear();
  s.digests.resize(entered.size());
  auto bad = chunk.bad.begin();  // was taken out of the digests
  for (std::size_t i = 0, record = chunk.heads, next = 0; i < entered.size(); ++i, ++record) {
    counts[entered[i]] = 1;
    record += entered[i] - next;
    next = entered[i] + 1;
    for (; bad != chunk.bad.end() && bad->record <= record; ++bad) ++record;
    const std::string_view text = keys_.text(chunk, record, s.keys).substr(0, room + 1);
    s.texts.emplace_back(text.data(), text.size());
    s.text += text;
    s.digests[i] = digests[entered[i]];
  }
  const char* at = s.text.data();  // it does not move any more
  for (std::string_view& text : s.texts) {
    text = {at, text.size()};
    at += text.size();
  }
  top_->name(s.digests.all(), s.texts);
}

void Judge::judge_by_shard(const Chunk& chunk, Scratch& s, Digests digests, Weights weights,
                           std::span<Verdict> verdicts) {
  // A stable counting sort of the records by shard.
  const std::size_t n = digests.size();
  s.begins.assign(lanes_ + 1, 0);
  s.order.resize(n);
  s.digests.resize(n);
  s.verdicts.resize(n);
  s.weights.resize(weights.size());
  s.shards.resize(n);
  filter_->shard_of(digests, s.shards.all());
  for (const std::uint32_t shard : s.shards.all()) ++s.begins[shard + 1];
  for (std::uint32_t i = 0; i < lanes_; ++i) s.begins[i + 1] += s.begins[i];
  std::vector<std::size_t> next(s.begins.begin(), s.begins.end() - 1);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t place = next[s.shards[i]]++;
    s.order[place] = static_cast<std::uint32_t>(i);
    s.digests[place] = digests[i];
    if (!weights.empty()) s.weights[place] = weights[i];
  }
  for (std::uint32_t shard = 0; shard < lanes_; ++shard) {
    turns_[shard].wait(chunk.number);
    if (!ended_before(chunk.number)) observe_shard(shard, s, !weights.empty());
    turns_[shard].pass();
  }
  for (std::size_t i = 0; i < n; ++i) verdicts[s.order[i]] = s.verdicts[i];
}

void Judge::observe_shard(std::uint32_t shard, Scratch& s, bool weighted) {
  std::size_t from = s.begins[shard];
  const std::size_t last = s.begins[shard + 1];
  const auto up_to = [&](std::size_t end) {
    const auto part = s.digests.all().subspan(from, end - from);
    const auto out = s.verdicts.all().subspan(from, end - from);
    if (weighted)
      filter_->observe_shard(shard, part, s.weights.all().subspan(from, end - from), out);
    else
      filter_->observe_shard(shard, part, out);
    from = end;
  };
  for (const WindowClock::Cut& cut : s.cuts) {
    const auto rest = s.order.all().subspan(from, last - from);
    up_to(from + static_cast<std::size_t>(std::lower_bound(rest.begin(), rest.end(), cut.record) -
                                          rest.begin()));
    age_shard(*filter_, shard, clock_->window().kind, cut.generations);
  }
  up_to(last);
}

}  // namespace weir
