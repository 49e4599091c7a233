// The filter station: verdicts for a chunk, in the order of the input.
//
// A structure must see its records in order, so chunks take turns. A filter of several shards
// takes a turn a shard: while one thread is at the second shard with chunk n, the next one is at
// the first with chunk n + 1. A digest belongs to one shard for ever, and every shard sees its
// records in order, so the verdicts are those of one thread.
//
// With a window a chunk passes the clock first, in order; it says before which records the
// structure ages, and the chunk is cut there. Each shard ages by itself, at its own part of the
// cut.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/window_clock.hpp"
#include "key/keys.hpp"
#include "pipeline/turn.hpp"
#include "source/chunk.hpp"
#include "weir/dedup.hpp"
#include "weir/top.hpp"

namespace weir {

class Judge {
 public:
  Judge(Structure& structure, const DedupOptions& options, const Keys& keys);

  struct Scratch {
    PlainArray<std::uint32_t> shards;  // of each record
    PlainArray<std::uint32_t> order;   // records by shard
    PlainArray<Digest> digests;
    PlainArray<std::uint32_t> weights;
    PlainArray<Verdict> verdicts;
    std::vector<std::size_t> begins;  // of each shard in `order`
    std::vector<WindowClock::Cut> cuts;
    // Of a structure that holds keys:
    PlainArray<std::uint32_t> entered;
    std::vector<std::string_view> texts;
    std::string text;
    Keys::Scratch keys;
  };
  // Sets verdicts (New for bad records) and counts. Nothing is remembered of a chunk behind
  // the one that ended the run.
  void judge(Chunk& chunk, Scratch& scratch);
  // The run ends with this chunk, which is at or before its turn.
  void end_with(std::uint64_t number) noexcept;
  [[nodiscard]] bool ended_before(std::uint64_t number) const noexcept {
    return number > last_.load();
  }

  void abandon() noexcept;

  // Where it stands; only while no chunk is out.
  [[nodiscard]] std::optional<Window> window() const;

 private:
  using Digests = std::span<const Digest>;
  using Weights = std::span<const std::uint32_t>;
  void set_clock(const Chunk& chunk, std::span<const std::int64_t> times, std::size_t records,
                 std::vector<WindowClock::Cut>& cuts);
  void judge_in_turn(Chunk& chunk, Scratch& scratch, Digests digests, Weights weights,
                     std::span<Verdict> verdicts);
  void take_back(const Chunk& chunk, Digests digests);
  void meet_and_name(const Chunk& chunk, Scratch& scratch, Digests digests,
                     std::span<std::uint64_t> counts);
  void observe_shard(std::uint32_t shard, Scratch& scratch, bool weighted);
  void judge_by_shard(const Chunk& chunk, Scratch& scratch, Digests digests, Weights weights,
                      std::span<Verdict> verdicts);

  const DedupOptions& options_;
  const Keys& keys_;
  Filter* filter_ = nullptr;
  Sketch* sketch_ = nullptr;
  Top* top_ = nullptr;  // the sketch, if it holds keys and nobody asks for counts
  bool read_only_, take_back_;
  std::uint32_t lanes_ = 1;
  std::unique_ptr<Turn[]> turns_;
  std::optional<WindowClock> clock_;
  Turn clock_turn_;
  std::atomic<std::uint64_t> last_{~std::uint64_t{0}};
};

}  // namespace weir
