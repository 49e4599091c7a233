#include "pipeline/judge.hpp"

#include <algorithm>

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

Judge::Judge(Structure& structure, bool read_only, unsigned threads) : read_only_(read_only) {
  if (structure.info().kind == Kind::Filter) filter_ = static_cast<Filter*>(&structure);
  if (structure.info().kind == Kind::Sketch) sketch_ = static_cast<Sketch*>(&structure);
  if (filter_ != nullptr && threads > 1 && !read_only && filter_->shards() <= most_lanes)
    lanes_ = filter_->shards();
  turns_ = std::make_unique<Turn[]>(lanes_);
}

void Judge::end_with(std::uint64_t number) noexcept {
  std::uint64_t last = last_.load();
  while (number < last && !last_.compare_exchange_weak(last, number)) {
  }
}

void Judge::abandon() noexcept {
  for (std::uint32_t i = 0; i < lanes_; ++i) turns_[i].abandon();
}

void Judge::judge(Chunk& chunk, Scratch& scratch) {
  const std::size_t heads = chunk.heads;
  const std::size_t judged = chunk.piece ? heads : chunk.judged;
  chunk.verdicts.resize(chunk.records());
  if (sketch_ != nullptr) chunk.counts.resize(chunk.records());
  auto digests = chunk.digests.all().subspan(heads, judged - heads);
  auto weights = std::span<std::uint32_t>();
  if (!chunk.weights.empty()) weights = chunk.weights.all().subspan(heads, judged - heads);
  const bool some_bad = !chunk.bad.empty() && !chunk.piece;
  if (some_bad) {
    const std::size_t good = without_bad(digests, chunk.bad, heads);
    digests = digests.first(good);
    if (!weights.empty()) weights = weights.first(without_bad(weights, chunk.bad, heads));
  }
  const auto verdicts = chunk.verdicts.all().subspan(heads, digests.size());
  if (lanes_ > 1)
    judge_by_shard(chunk, scratch, digests, weights, verdicts);
  else
    judge_in_turn(chunk, digests, weights, verdicts);
  if (some_bad) {
    const auto all = chunk.verdicts.all().subspan(heads, judged - heads);
    with_bad(all, digests.size(), chunk.bad, heads, Verdict::New);
    if (sketch_ != nullptr)
      with_bad(chunk.counts.all().subspan(heads, judged - heads), digests.size(), chunk.bad, heads,
               std::uint64_t{0});
  }
}

void Judge::judge_in_turn(Chunk& chunk, std::span<const Digest> digests,
                          std::span<const std::uint32_t> weights, std::span<Verdict> verdicts) {
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
    if (sketch_ != nullptr)
      sketch_->add(digests, counts);
    else if (weights.empty())
      filter_->observe(digests, verdicts);
    else
      filter_->observe(digests, weights, verdicts);
  }
  turns_[0].pass();
  for (std::size_t i = 0; i < counts.size(); ++i)
    verdicts[i] = counts[i] > 1 ? Verdict::Seen : Verdict::New;
}

void Judge::judge_by_shard(const Chunk& chunk, Scratch& s, std::span<const Digest> digests,
                           std::span<const std::uint32_t> weights, std::span<Verdict> verdicts) {
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
    const std::size_t begin = s.begins[shard], count = s.begins[shard + 1] - begin;
    turns_[shard].wait(chunk.number);
    if (!ended_before(chunk.number)) {
      const auto part = s.digests.all().subspan(begin, count);
      const auto out = s.verdicts.all().subspan(begin, count);
      if (weights.empty())
        filter_->observe_shard(shard, part, out);
      else
        filter_->observe_shard(shard, part, s.weights.all().subspan(begin, count), out);
    }
    turns_[shard].pass();
  }
  for (std::size_t i = 0; i < n; ++i) verdicts[s.order[i]] = s.verdicts[i];
}

}  // namespace weir
