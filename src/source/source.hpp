// The inputs, one behind the other, as chunks of whole records.
//
// Reading and cutting are done by one thread at a time (the pipeline holds a lock), so that
// chunks come out in order and begin where a record begins; what a chunk leaves over is carried
// into the next one. Everything behind this point works on chunks in parallel.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "source/byte_stream.hpp"
#include "source/chunk.hpp"
#include "source/cutter.hpp"
#include "weir/dedup.hpp"

namespace weir {

class Source {
 public:
  enum class Filled : std::uint8_t { Yes, End, Stop, Timeout };

  // `header` is called with the header row of the first input that has one.
  Source(const DedupOptions& options, std::function<void(std::string_view row)> header);

  // The next chunk, of at most `most` records; its number is not set here. Throws Error(Io).
  Filled fill(Chunk& chunk, std::size_t most, const Waiting& waiting);
  // What was read but not given out, as a last record: for an input that cannot be read again
  // when the run stops. False: nothing is left, or the input is a file.
  bool give_up(Chunk& chunk);

  // Nothing would be lost: what was read and not given out can be read again.
  [[nodiscard]] bool can_stop_here() const noexcept { return !stream_ || stream_->is_file(); }

  // Where the next chunk begins. Not inside a record that comes in pieces.
  [[nodiscard]] bool between_records() const noexcept { return !in_pieces_; }
  [[nodiscard]] std::uint32_t input() const noexcept { return input_; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  // Goes on from there; the header is read first where there is one.
  void go_to(std::uint32_t input, std::uint64_t offset, std::uint64_t records);

  [[nodiscard]] std::uint64_t taken() const noexcept;

 private:
  [[nodiscard]] bool has_headers() const noexcept {
    return options_.format.kind == Records::Csv && options_.format.header;
  }
  void open();
  void next_input();
  Filled fill_from_here(Chunk& chunk, std::size_t most, const Waiting& waiting);
  void make_piece(Chunk& chunk, std::uint64_t filled);
  void carry_rest(Chunk& chunk, std::uint64_t from, std::uint64_t filled);
  void deliver(Chunk& chunk, std::uint64_t filled);
  void meet_header(Chunk& chunk);

  const DedupOptions& options_;
  std::function<void(std::string_view)> header_found_;
  Cutter cutter_;
  std::unique_ptr<ByteStream> stream_;
  std::uint32_t input_ = 0;
  std::uint64_t offset_ = 0, records_ = 0;  // of this input, given out
  std::uint64_t taken_before_ = 0;          // of the inputs before this one
  Buffer carry_;
  std::size_t carried_ = 0;
  bool ended_ = false, in_pieces_ = false;
  std::string header_;
  bool has_header_ = false;
};

// Refuses an input that is missing or unreadable before any work is done.
void require_readable(const std::vector<std::string>& inputs);

// Bytes of all inputs, as they are stored; 0 when one is not a file.
std::uint64_t total_size(const std::vector<std::string>& inputs);

// A few bytes that tell whether a file is the one that a position was saved for.
Fingerprint fingerprint_of(const std::string& file);
// The same of several files, whose sizes count too.
Fingerprint fingerprint_of(const std::vector<std::string>& files);
bool has_fingerprint(const std::string& file, const Fingerprint& fingerprint);

}  // namespace weir
