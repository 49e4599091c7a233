#include "measure.hpp"

#include <algorithm>
#include <cmath>

#include "core/bits.hpp"
#include "weir/error.hpp"

namespace weir::lab {

double Rate::standard_error() const {
  const double p = value();
  return of == 0 ? 0 : std::sqrt(p * (1 - p) / static_cast<double>(of));
}

namespace {

Recording with_answer(std::vector<std::uint32_t> keys, std::uint64_t universe) {
  Recording r;
  r.keys = std::move(keys);
  r.first.resize(r.keys.size());
  std::vector<bool> met(universe);
  for (std::size_t i = 0; i < r.keys.size(); ++i) {
    r.first[i] = met[r.keys[i]] ? 0 : 1;
    r.distinct += r.first[i];
    met[r.keys[i]] = true;
  }
  return r;
}

// Numbers for keys, in the order in which they come: open addressing, at most half full.
class Numbers {
 public:
  // The key's number; count() before is a new one's.
  std::uint32_t of(std::uint64_t key) {
    if (2 * count_ >= slots_.size()) grow();
    Slot& slot = find(key);
    if (slot.number == none) slot = {key, count_++};
    return slot.number;
  }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = none;
  };

  Slot& find(std::uint64_t key) noexcept {
    std::size_t at = reduce(mix(key, 20), slots_.size());
    while (slots_[at].number != none && slots_[at].key != key)
      at = at + 1 == slots_.size() ? 0 : at + 1;
    return slots_[at];
  }
  void grow() {
    if (count_ >= none / 2)
      throw Error(ErrorCode::Unsupported, "a comparison takes streams of at most 2^31 keys");
    std::vector<Slot> before(std::max<std::size_t>(1024, 2 * slots_.size()));
    std::swap(before, slots_);
    for (const Slot& slot : before)
      if (slot.number != none) find(slot.key) = slot;
  }

  std::vector<Slot> slots_;
  std::uint32_t count_ = 0;
};

}  // namespace

Recording record(const Trace& trace) {
  Recording recording = with_answer(trace.keys, trace.distinct);
  recording.weights = trace.weights;
  return recording;
}

Recording record(Stream& stream, std::uint64_t records) {
  constexpr std::size_t batch = 4096;
  std::vector<std::uint64_t> keys(batch);
  std::vector<std::uint32_t> weights(batch);
  Numbers numbers;
  Recording r;
  while (r.keys.size() < records) {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(batch, records - r.keys.size()));
    const std::size_t n =
        stream.fill(std::span(keys).first(wanted), std::span(weights).first(wanted));
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t before = numbers.count();
      r.keys.push_back(numbers.of(keys[i]));
      r.first.push_back(r.keys.back() == before ? 1 : 0);
    }
    if (stream.weighted())
      r.weights.insert(r.weights.end(), weights.begin(),
                       weights.begin() + static_cast<std::ptrdiff_t>(n));
    if (n < wanted) break;
  }
  r.distinct = numbers.count();
  return r;
}

Recording record(Stream& stream, std::uint64_t records, std::uint64_t universe) {
  std::vector<std::uint32_t> keys(records);
  std::vector<std::uint64_t> batch(4096);
  for (std::uint64_t done = 0; done < records;) {
    const std::size_t n = stream.fill(std::span(batch).first(static_cast<std::size_t>(
                                          std::min<std::uint64_t>(4096, records - done))),
                                      {});
    for (std::size_t i = 0; i < n; ++i) keys[done + i] = static_cast<std::uint32_t>(batch[i]);
    done += n;
  }
  return with_answer(std::move(keys), universe);
}

Measured measure(Filter& filter, const Recording& recording, std::uint64_t seed) {
  constexpr std::size_t batch = 4096;
  std::vector<Digest> digests(batch);
  std::vector<Verdict> verdicts(batch);
  const std::uint64_t secret = mix(seed, 5);
  Measured m;
  for (std::size_t at = 0; at < recording.keys.size(); at += batch) {
    const std::size_t n = std::min(batch, recording.keys.size() - at);
    for (std::size_t i = 0; i < n; ++i) digests[i] = mix(recording.keys[at + i], secret);
    if (recording.weights.empty())
      filter.observe(std::span(digests).first(n), std::span(verdicts).first(n));
    else
      filter.observe(std::span(digests).first(n), std::span(recording.weights).subspan(at, n),
                     std::span(verdicts).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      const bool seen = verdicts[i] == Verdict::Seen;
      if (recording.first[at + i] != 0)
        m.fpr.events += seen ? 1 : 0;
      else
        m.fnr.events += seen ? 0 : 1;
    }
  }
  m.fpr.of = recording.distinct;
  m.fnr.of = recording.keys.size() - recording.distinct;
  return m;
}

// A doubly linked list through arrays, the youngest in front.
Rate ideal_lru(const Recording& recording, std::uint64_t keys) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  const std::size_t universe =
      recording.keys.empty()
          ? 0
          : std::size_t{*std::max_element(recording.keys.begin(), recording.keys.end())} + 1;
  std::vector<std::uint32_t> next(universe, none), previous(universe, none);
  std::vector<bool> held(universe);
  std::uint32_t front = none, back = none;
  std::uint64_t size = 0;
  Rate rate;
  const auto unlink = [&](std::uint32_t key) {
    (previous[key] == none ? front : next[previous[key]]) = next[key];
    (next[key] == none ? back : previous[next[key]]) = previous[key];
  };
  for (std::size_t i = 0; i < recording.keys.size(); ++i) {
    const std::uint32_t key = recording.keys[i];
    if (recording.first[i] == 0) {
      rate.of += 1;
      rate.events += held[key] ? 0 : 1;
    }
    if (held[key]) {
      unlink(key), --size;
    } else if (size == keys && size != 0) {
      held[back] = false;
      unlink(back), --size;
    }
    if (keys == 0) continue;
    next[key] = front, previous[key] = none;
    (front == none ? back : previous[front]) = key;
    front = key, held[key] = true, ++size;
  }
  return rate;
}

}  // namespace weir::lab
