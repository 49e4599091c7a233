// The clock of a window: where, within a chunk, the structure grows a generation older.
//
//   Records   the position of a record is its number, from 0 on; bad ones do not count
//   Arrival   its time is when its chunk was read
//   Event     its time stands in it. The clock is the highest time met; a record behind it is late,
//             and is taken as if it came at the clock's time.
//
// A generation ends where floor(position / step) changes, so that boundaries depend on the stream
// alone: not on threads, chunks or where a run was interrupted.
//
// A broken clock must neither empty the window nor stop it for ever. An event time that is further
// from the clock than the window and than a week, ahead or behind, is doubted: the record is taken
// as if it came at the clock's time. When doubted records outnumber the others by ten since the
// doubt began, the clock goes where they are. Going ahead like this the structure ages by one
// window at most, so that the doubted records stay; going back it does not age.
#pragma once

#include <span>
#include <vector>

#include "weir/filter.hpp"
#include "weir/snapshot.hpp"

namespace weir {

class WindowClock {
 public:
  struct Cut {
    std::size_t record;         // before this one
    std::uint32_t generations;  // pass
  };
  static constexpr std::uint32_t all = 1 << 16;  // more generations than any structure has

  explicit WindowClock(const Window& window) : window_(window) {}

  // Appends the cuts among the next records; in the order of the stream.
  void count(std::size_t records, std::vector<Cut>& cuts);
  void arrive(std::int64_t time, std::vector<Cut>& cuts);
  void happen(std::span<const std::int64_t> times, std::vector<Cut>& cuts);

  [[nodiscard]] const Window& window() const noexcept { return window_; }

 private:
  static constexpr std::uint64_t convinced = 10;
  [[nodiscard]] std::int64_t generation(std::int64_t position) const noexcept;
  // Generations that pass on the way there.
  std::uint32_t go_to(std::int64_t position) noexcept;
  std::uint32_t hear(std::int64_t time) noexcept;

  Window window_;
};

// A shard grows so many generations older, as its window's kind has it.
void age_shard(Filter& filter, std::uint32_t shard, Window::Kind kind, std::uint32_t generations);

// Observes the records in order; before a cut's record the whole filter ages. Weights may be empty.
void observe_window(Filter& filter, Window::Kind kind, std::span<const WindowClock::Cut> cuts,
                    std::span<const Digest> digests, std::span<const std::uint32_t> weights,
                    std::span<Verdict> verdicts);

}  // namespace weir
