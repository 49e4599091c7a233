// A window's clock ages the structure at places that depend on the stream alone.
#include "core/window_clock.hpp"

#include <gtest/gtest.h>

#include "core/bits.hpp"

namespace weir {
namespace {

constexpr std::int64_t second = 1'000'000, day = 86'400 * second;

Window by_time(std::uint64_t length, std::uint64_t step) {
  return {.clock = Window::Clock::Event, .length = length, .step = step};
}

// The generation each record is in, from cuts of a stream that came in pieces.
std::vector<std::uint64_t> generations(WindowClock& clock, std::span<const std::int64_t> times,
                                       std::size_t piece) {
  std::vector<std::uint64_t> result;
  std::uint64_t now = 0;
  for (std::size_t at = 0; at < times.size(); at += piece) {
    const auto part = times.subspan(at, std::min(piece, times.size() - at));
    std::vector<WindowClock::Cut> cuts;
    if (clock.window().clock == Window::Clock::Records)
      clock.count(part.size(), cuts);
    else
      clock.happen(part, cuts);
    std::size_t next = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      while (next < cuts.size() && cuts[next].record == i) now += cuts[next++].generations;
      result.push_back(now);
    }
    EXPECT_EQ(next, cuts.size());
  }
  return result;
}

TEST(WindowClock, CountsRecordsInAnyPieces) {
  const std::vector<std::int64_t> none(1000);
  for (const std::uint64_t step : {1u, 7u, 1000u, 5000u})
    for (const std::size_t piece : {1u, 3u, 7u, 100u, 1000u}) {
      WindowClock clock({.length = step * 5, .step = step});
      const auto found = generations(clock, none, piece);
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], i / step) << step;
      EXPECT_EQ(clock.window().now, 999);
    }
}

TEST(WindowClock, GoesByTheHighestTime) {
  const std::int64_t start = 100 * day;
  const std::vector<std::int64_t> times = {start,      start + 9,  start + 10, start + 5,
                                           start + 35, start + 29, start + 40};
  WindowClock clock(by_time(30, 10));
  EXPECT_EQ(generations(clock, times, 2), (std::vector<std::uint64_t>{0, 0, 1, 1, 3, 3, 4}));
  EXPECT_EQ(clock.window().late, 2u);
  EXPECT_EQ(clock.window().doubted, 0u);
}

TEST(WindowClock, TimesBefore1970HaveGenerationsToo) {
  WindowClock clock(by_time(30, 10));
  const std::vector<std::int64_t> times = {-11, -10, -1, 0, 9, 10};
  EXPECT_EQ(generations(clock, times, 6), (std::vector<std::uint64_t>{0, 1, 1, 2, 2, 3}));
}

TEST(WindowClock, DoesNotBelieveASingleBrokenTime) {
  WindowClock clock(by_time(3600 * second, 60 * second));
  std::vector<std::int64_t> times;
  for (std::int64_t i = 0; i < 300; ++i) times.push_back(day + i + (i % 3 == 2 ? 9000 * day : 0));
  const auto found = generations(clock, times, 300);
  EXPECT_EQ(found.back(), 0u);
  EXPECT_EQ(clock.window().doubted, 100u);
  EXPECT_EQ(clock.window().now, day + 298 + 0);
}

TEST(WindowClock, BelievesTenAndComesBack) {
  WindowClock clock(by_time(3600 * second, 60 * second));
  std::vector<std::int64_t> times(1, day);
  times.insert(times.end(), 10, 9000 * day);
  times.insert(times.end(), 10, day + second);
  times.push_back(day + 61 * second);
  const auto found = generations(clock, times, 4);
  EXPECT_EQ(found[9], 0u);
  EXPECT_EQ(found[10], 60u) << "a window, and no more: what was doubted stays";
  EXPECT_EQ(found[20], 60u);
  EXPECT_EQ(found[21], 61u);
  EXPECT_EQ(clock.window().now, day + 61 * second);
}

TEST(WindowClock, GoesOnWhereItStood) {
  Draws draws(3);
  std::vector<std::int64_t> times(5000);
  std::int64_t now = 0;
  for (auto& time : times) {
    now += static_cast<std::int64_t>(draws.below(3 * second));
    time = now - static_cast<std::int64_t>(draws.below(10) == 0 ? draws.below(30 * day) : 0);
  }
  WindowClock whole(by_time(60 * second, 5 * second));
  const auto expected = generations(whole, times, 5000);
  for (const std::size_t piece : {1u, 17u, 1000u}) {
    Window window = by_time(60 * second, 5 * second);
    std::vector<std::uint64_t> found;
    for (std::size_t at = 0; at < times.size(); at += piece) {
      WindowClock clock(window);
      const auto part = std::span(times).subspan(at, std::min(piece, times.size() - at));
      // A cut before the first record is the step from the one before.
      std::vector<WindowClock::Cut> cuts;
      clock.happen(part, cuts);
      std::uint64_t base = found.empty() ? 0 : found.back();
      std::size_t next = 0;
      for (std::size_t i = 0; i < part.size(); ++i) {
        while (next < cuts.size() && cuts[next].record == i) base += cuts[next++].generations;
        found.push_back(base);
      }
      window = clock.window();
    }
    EXPECT_EQ(found, expected) << piece;
  }
}

}  // namespace
}  // namespace weir
