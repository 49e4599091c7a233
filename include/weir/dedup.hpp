// The main job: records in, first ones out, byte for byte as read and in their order.
//
//   weir::DedupOptions options;
//   options.inputs = {"access.log.gz"};
//   options.key.fields = "1,7";
//   const weir::DedupStats stats = weir::dedup(*filter, options);
//
// The result is the same for every number of threads, every chunk size and every kernel. Beside
// the structure the run needs a few hundred KiB a thread, and the longest record.
// This header belongs to the library weir-engine (CMake: weir::engine); it links zlib, zstd and
// simdjson, which the core does not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weir/filter.hpp"
#include "weir/snapshot.hpp"

namespace weir {

enum class Records : std::uint8_t { Lines, Nul, Fixed, Csv, Json };

struct RecordFormat {
  Records kind = Records::Lines;
  std::uint64_t width = 0;  // of Fixed
  char separator = ',';     // of Csv
  bool header = true;       // of Csv: the first row names the columns, and is passed on
};

// Which bytes identify a record. Nothing given: all of it, without its terminator.
// A selector that a record lacks makes it a bad record.
struct KeyOptions {
  // Lines, NUL and CSV: "2,4-5", "3-", "-2", numbered from 1. Equal fields make equal keys.
  std::string fields;
  // Of lines; absent: runs of blanks separate, and blanks in front do not count.
  std::optional<char> separator;
  std::vector<std::string> columns;   // CSV: names of the header, or numbers
  std::vector<std::string> pointers;  // JSON Pointer (RFC 6901); equal values make equal keys
  bool ignore_case = false;           // of ASCII letters
  // Field number, column or pointer of a number from 1 to importance_max; more counts as the
  // maximum, less as 1.
  std::string importance;
  std::uint32_t importance_max = 0xffffffff;
  // Field number, column or pointer of a record's time, for a window by Window::Clock::Event:
  // RFC 3339, or seconds, milliseconds, microseconds or nanoseconds since 1970 (src/key/time.hpp).
  std::string time;
};

enum class OnBad : std::uint8_t {
  Pass,  // to the output, like a first one
  Drop,
  Fail,  // the run ends with an error; what came before is written
};

enum class Emit : std::uint8_t {
  First,
  Repeats,
  Mark,          // every record, "0<TAB>" (new) or "1<TAB>" (seen) in front
  Count,         // every record, the estimated count so far in front; needs a sketch
  CountRepeats,  // the same for repeats only
  Nothing,       // only the structure learns of the records
};

struct DedupStats {
  std::uint64_t records = 0, bytes = 0;  // read; bytes after decompression
  std::uint64_t first = 0, repeats = 0;
  std::uint64_t bad = 0;           // without a key, or too long
  std::string first_bad;           // where, and what was wrong with it
  std::uint64_t output_bytes = 0;  // of the main output, from its beginning
  std::uint64_t input_taken = 0;   // bytes of the inputs themselves, before decompression
  std::uint64_t input_total = 0;   // 0: not known
  std::uint64_t saves = 0;         // of the state
  std::optional<Window> window;    // where it stands
  double seconds = 0;
  bool stopped = false;       // by DedupOptions::stop_fd
  bool over_max_fpr = false;  // ended by DedupOptions::max_fpr
};

struct DedupOptions {
  std::vector<std::string> inputs = {"-"};  // in order; "-" is standard input
  bool decompress = true;                   // what begins like gzip or zstd
  RecordFormat format;
  KeyOptions key;
  OnBad on_bad = OnBad::Pass;
  std::uint64_t max_record = 0;  // bytes; longer ones are bad. 0: any length

  Emit emit = Emit::First;
  int output_fd = 1;         // used when there is no file
  std::string output;        // file
  std::string repeats_file;  // repeats go here as well

  // Only with a filter that ages by generations (g=0, so that it does not by itself), or of kind
  // Landmark. One that DedupStats or a state gave goes on where it was; that of `position` counts
  // before this one.
  std::optional<Window> window;

  bool read_only = false;            // only look, remember nothing
  bool take_back = false;            // a sketch: each record takes one occurrence of its key back
  std::string state;                 // file that the structure is saved to; empty: nowhere
  double save_seconds = 0;           // save that often; 0: at the end only
  std::uint64_t save_records = 0;    // and that often
  bool resume = false;               // the state holds the job's position too
  std::optional<JobState> position;  // go on from here (of load())

  unsigned threads = 1;
  std::uint64_t chunk_bytes = 256 << 10;

  // Called, at most twice a second, while no other thread does anything with the statistics.
  std::function<void(const DedupStats&)> progress;
  // Called once, when the live FPR has passed warn_fpr; 0: never.
  double warn_fpr = 0;
  std::function<void(double live)> warn;
  double max_fpr = 0;  // the run ends before the live FPR is far beyond it; 0: never
  int stop_fd = -1;    // the run ends soon after this becomes readable
};

// A filter, or a sketch (a record is a repeat when its estimated count is above one).
// Throws Error(Config) for options that contradict each other, Error(Io) for what cannot be read
// or written, Error(BadInput) for a bad record under OnBad::Fail. The state is saved when the
// call returns, and not when it throws.
DedupStats dedup(Structure& structure, const DedupOptions& options);

// The job that options describe, as a saved position names it: inputs, records, key and
// output. A job is resumed only under the same description.
std::string describe_job(const DedupOptions& options);

// Whether the inputs of a complete job look different from what they were when it ended: their
// sizes and first bytes. Throws Error(Io).
bool inputs_changed(const JobState& job, const DedupOptions& options);

}  // namespace weir
