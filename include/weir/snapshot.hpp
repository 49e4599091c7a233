// State on disk: one format, one loader.
//
// A state loads whole and valid or is refused with one sentence. Saving and loading stream
// in blocks straight from and into the structure's memory, so a 4 GiB filter needs no second
// 4 GiB. The byte layout is drawn in src/checkpoint/snapshot.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "weir/catalog.hpp"

namespace weir {

// Where snapshot bytes go to and come from; throw Error(Io) when they cannot.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
};
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills all of `bytes`.
  virtual void read(std::span<std::byte> bytes) = 0;
  // Bytes there are in all. The loader believes no size that the bytes do not bear out.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

// A snapshot held in memory.
class SpanSource final : public ByteSource {
 public:
  explicit SpanSource(std::span<const std::byte> bytes) : all_(bytes), size_(bytes.size()) {}
  void read(std::span<std::byte> bytes) override;
  [[nodiscard]] std::uint64_t size() const override { return size_; }

 private:
  std::span<const std::byte> all_;
  std::uint64_t size_;
};

struct SnapshotInfo {
  std::uint32_t version = 0;
  std::uint64_t bytes = 0;    // of the whole snapshot
  std::int64_t saved_at = 0;  // seconds since 1970, UTC
};

// A few bytes that tell whether a file is the one that was read before.
struct Fingerprint {
  static constexpr std::uint64_t most_bytes = 4096;
  std::uint64_t bytes = 0, hash = 0;  // how many of the file's first bytes, and their hash
};

// A window over the stream: how far back a repeat counts. The engine ages the structure by it, and
// saves where it stands with it. Positions are records, or microseconds since 1970 (UTC).
struct Window {
  // Sliding: the structure ages in steps that are small against the length. Jumping: in steps of
  // the length. Landmark: everything is forgotten at the end of each length.
  enum class Kind : std::uint8_t { Sliding, Jumping, Landmark };
  enum class Clock : std::uint8_t { Records, Arrival, Event };
  Kind kind = Kind::Sliding;
  Clock clock = Clock::Records;
  std::uint64_t length = 0;  // as asked for
  std::uint64_t step = 0;    // a generation; all begin at multiples of it

  bool started = false;       // a record has come
  std::int64_t now = 0;       // the number of the last record, from 0 on, or the highest time met
  std::uint64_t late = 0;     // records behind the clock
  std::uint64_t doubted = 0;  // records too far from it to be believed at once
  std::uint64_t doubt = 0;    // src/core/window_clock.hpp
};

// How far a job has come. Saved in one file with the structure, so that the two cannot part:
// everything up to here is written and in the structure, nothing behind it is in either.
struct JobState {
  std::string job;            // which one: weir/dedup.hpp, describe_job(); empty: only a window
  bool complete = false;      // nothing is left to do
  std::uint32_t input = 0;    // which of the inputs is being read
  std::uint64_t offset = 0;   // bytes of it that are done, after decompression
  std::uint64_t ordinal = 0;  // records of it that are done
  Fingerprint fingerprint;    // of it; of all inputs when the job is complete
  std::uint64_t output_bytes = 0, repeats_bytes = 0;
  bool output_open = false, repeats_open = false;  // the last record there lacks its terminator
  std::uint64_t records = 0, bytes = 0, first = 0, repeats = 0, bad = 0;
  std::optional<Window> window;
};

// Bytes write_snapshot will write.
std::uint64_t snapshot_bytes(const Structure& structure);
void write_snapshot(const Structure& structure, ByteSink& sink);
// Throws Error(BadState) for anything that is not a whole, valid snapshot, or whose structure takes
// more memory than `most_memory`, before it is asked for.
StructurePtr read_snapshot(ByteSource& source, SnapshotInfo* info = nullptr,
                           std::uint64_t most_memory = ~std::uint64_t{0});

// The same bytes, and those of a state file with a job in front, in pieces: for a program that must
// not stop for all of them at once. The structure must not change before the last one is written.
class StateWriter {
 public:
  // Seconds since 1970; where bytes are to be compared, always the same.
  explicit StateWriter(const Structure& structure, const JobState* job = nullptr,
                       std::optional<std::int64_t> saved_at = {});
  StateWriter(StateWriter&&) noexcept;
  StateWriter& operator=(StateWriter&&) noexcept;
  ~StateWriter();
  [[nodiscard]] std::uint64_t size() const noexcept;  // of all
  [[nodiscard]] bool done() const noexcept;
  // The next piece: the head, a block of 256 KiB, or the end.
  void write_piece(ByteSink& sink);

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

// A state file that comes in pieces of any size. Nothing is believed more than by read_snapshot(),
// but memory is asked for before all bytes are there: as much as the head says, up to
// `most_memory`.
class StateReader {
 public:
  explicit StateReader(std::uint64_t most_memory);
  StateReader(StateReader&&) noexcept;
  StateReader& operator=(StateReader&&) noexcept;
  ~StateReader();
  // Throws Error(BadState); the reader is of no use then.
  void take(std::span<const std::byte> bytes);
  [[nodiscard]] bool done() const noexcept;
  [[nodiscard]] std::uint64_t taken() const noexcept;   // bytes so far
  [[nodiscard]] std::uint64_t memory() const noexcept;  // of the structure, as far as it is known
  // The bytes that were taken, once more: another reader goes on from there.
  void write_taken(ByteSink& sink) const;
  // When it is done.
  [[nodiscard]] const std::optional<JobState>& job() const noexcept;
  [[nodiscard]] StructurePtr structure() &&;

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

// An equal structure, which goes on as this one does.
StructurePtr copy_of(const Structure& structure);

// Replaces the file atomically: a temporary file beside it (mode 0600, for it holds the
// secret), fsync, rename, fsync of the folder. On failure the old file stays as it was.
// With a job, its state stands in front of the snapshot (src/checkpoint/job_state.cpp).
void save(const Structure& structure, const std::filesystem::path& path,
          const JobState* job = nullptr);
// `job` is set when the file holds one.
StructurePtr load(const std::filesystem::path& path, SnapshotInfo* info = nullptr,
                  std::optional<JobState>* job = nullptr);
FilterPtr load_filter(const std::filesystem::path& path, SnapshotInfo* info = nullptr);

}  // namespace weir
