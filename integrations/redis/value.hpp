// What a key of the module's type holds.
//
//   structures  one for the WEIR.* and CMS.* commands; those of BF.* hold a chain (chain.hpp)
//   window      how far back a repeat counts, and where its clock stands
//   notes       numbers that a family keeps beside, saved with the value
//   loading     a state that is coming in by WEIR.LOAD; what was there before stays until it is
//   whole
//
// Everything random is in the structures, and no clock is read here: equal commands on equal values
// leave equal values, bit for bit, which is what replication and the append-only file rest on.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "weir/snapshot.hpp"

namespace weir::redis {

struct Value {
  std::vector<StructurePtr> structures;
  std::optional<Window> window;
  std::vector<std::uint64_t> notes;
  static constexpr std::size_t most_structures = 4096, most_notes = 16;

  struct Loading {
    std::size_t part;  // which of the structures it becomes
    StateReader reader;
  };
  std::optional<Loading> loading;

  // A dump under way: only as long as nothing changes.
  struct Dump {
    StateWriter writer;
    std::uint64_t at, changes;
    std::int64_t saved_at;
    std::size_t part = 0;
  };
  std::optional<Dump> dump;
  std::uint64_t changes = 0;

  // Of the server's memory.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* value);

  Value();
  Value(const Value& other);  // a deep copy
  Value& operator=(const Value&) = delete;
  ~Value();
  [[nodiscard]] std::uint64_t memory() const;

  // The only structure; as a filter, sketch or list of frequent keys. Throws Error(Config) when it
  // is something else, with what it is.
  [[nodiscard]] Structure& only() const;
  [[nodiscard]] Filter& filter() const;
  [[nodiscard]] Sketch& sketch() const;

  // (The window's clock has been set.) The verdicts are the filter's.
  void observe(std::span<const Digest> digests, std::span<const std::uint32_t> weights,
               std::span<Verdict> out);
  // Generations that have passed by then, without moving the clock.
  [[nodiscard]] std::uint32_t generations_until(std::int64_t now) const;
  // Moves the clock of a window of time, and the filter with it.
  void advance(std::int64_t now);
  // The beginning of the generation that `now` lies in: all that is ever told to a clock, so that
  // it need not be told every moment.
  [[nodiscard]] std::int64_t generation_begin(std::int64_t now) const;
  [[nodiscard]] bool by_time() const { return window && window->clock != Window::Clock::Records; }

  void reset();
  [[nodiscard]] std::optional<JobState> job() const;  // the window, as a state file has it
  // Takes a whole state in as structure number `part`. Throws Error(BadState) when they do not fit.
  void adopt(std::size_t part, StateReader&& whole);

  // How many values there are, and the bytes of their structures; for INFO.
  struct Totals {
    std::uint64_t values, bytes;
  };
  static Totals totals();
};

// Has all structures live in the server's memory. Once, before the first is made.
void use_server_memory();

}  // namespace weir::redis
