#include "measure.hpp"

#include <algorithm>
#include <cmath>

#include "core/bits.hpp"

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

}  // namespace

Recording record(const Trace& trace) { return with_answer(trace.keys, trace.distinct); }

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
    filter.observe(std::span(digests).first(n), std::span(verdicts).first(n));
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
