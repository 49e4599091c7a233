#include "core/window_clock.hpp"

#include <algorithm>

namespace weir {
namespace {

constexpr std::int64_t week = 7 * 86'400'000'000;

}  // namespace

std::int64_t WindowClock::generation(std::int64_t position) const noexcept {
  const auto step = static_cast<std::int64_t>(window_.step);
  return position / step - (position % step < 0 ? 1 : 0);
}

std::uint32_t WindowClock::go_to(std::int64_t position) noexcept {
  const std::int64_t passed = window_.started ? generation(position) - generation(window_.now) : 0;
  window_.started = true;
  window_.now = position;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(passed, 0, all));
}

void WindowClock::count(std::size_t records, std::vector<Cut>& cuts) {
  std::int64_t next = window_.started ? window_.now + 1 : 0;
  for (std::size_t done = 0; done < records;) {
    if (const std::uint32_t passed = go_to(next)) cuts.push_back({done, passed});
    const std::uint64_t left = window_.step - static_cast<std::uint64_t>(next) % window_.step;
    const std::size_t together = std::min<std::uint64_t>(left, records - done);
    done += together;
    next += static_cast<std::int64_t>(together);
    window_.now = next - 1;
  }
}

void WindowClock::arrive(std::int64_t time, std::vector<Cut>& cuts) {
  if (window_.started && time < window_.now) return;
  if (const std::uint32_t passed = go_to(time)) cuts.push_back({0, passed});
}

void WindowClock::happen(std::span<const std::int64_t> times, std::vector<Cut>& cuts) {
  for (std::size_t i = 0; i < times.size(); ++i)
    if (const std::uint32_t passed = hear(times[i])) cuts.push_back({i, passed});
}

std::uint32_t WindowClock::hear(std::int64_t time) noexcept {
  if (!window_.started) return go_to(time);
  const bool ahead = time >= window_.now;
  window_.late += !ahead;
  const std::int64_t distance = ahead ? time - window_.now : window_.now - time;
  const auto length = static_cast<std::int64_t>(window_.length);
  if (distance <= std::max(length, week)) {
    window_.doubt -= window_.doubt > 0;
    return ahead ? go_to(time) : 0;
  }
  ++window_.doubted;
  if (++window_.doubt < convinced) return 0;
  window_.doubt = 0;
  const auto window = static_cast<std::uint32_t>(
      std::min<std::uint64_t>((window_.length + window_.step - 1) / window_.step, all));
  return std::min(go_to(time), window);
}

void age_shard(Filter& filter, std::uint32_t shard, Window::Kind kind, std::uint32_t generations) {
  if (kind == Window::Kind::Landmark)
    filter.clear_shard(shard);
  else
    filter.advance_shard(shard, generations);
}

void observe_window(Filter& filter, Window::Kind kind, std::span<const WindowClock::Cut> cuts,
                    std::span<const Digest> digests, std::span<const std::uint32_t> weights,
                    std::span<Verdict> verdicts) {
  std::size_t from = 0;
  const auto up_to = [&](std::size_t end) {
    const auto part = digests.subspan(from, end - from);
    const auto out = verdicts.subspan(from, end - from);
    if (weights.empty())
      filter.observe(part, out);
    else
      filter.observe(part, weights.subspan(from, end - from), out);
    from = end;
  };
  for (const WindowClock::Cut& cut : cuts) {
    up_to(cut.record);
    for (std::uint32_t i = 0; i < filter.shards(); ++i) age_shard(filter, i, kind, cut.generations);
  }
  up_to(digests.size());
}

}  // namespace weir
