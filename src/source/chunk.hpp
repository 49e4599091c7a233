// A run of whole records from one input, and what becomes of them on their way.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "source/buffer.hpp"
#include "source/plain_array.hpp"
#include "weir/filter.hpp"

namespace weir {

struct Chunk {
  // Set by the source.
  Buffer buffer;
  PlainArray<std::uint64_t> ends;  // of record i, its terminator included; it begins at ends[i-1]
  std::uint64_t number = 0;        // chunks are numbered in the order of the input
  std::uint64_t first_record = 0;  // ordinal in this input of the first record, from 1
  std::uint32_t input = 0;         // which of the inputs
  std::uint32_t heads = 0;         // records at the front that are a header, not data
  std::uint32_t terminator = 0;    // bytes of the terminator: 1, or 0 for fixed widths
  bool new_header = false;         // the header is the first of its kind, and passed on
  bool unterminated = false;       // the last record came without
  bool open_quotes = false;        // it ended inside quotes
  // A record beyond --max-record comes in pieces that nobody puts together: one piece a
  // chunk, `ends` holds its end. It is a bad record.
  bool piece = false, first_piece = false;
  std::int64_t arrived = 0;  // microseconds since 1970; of a window by arrival

  // Set by the key station. Digests, weights and times have a place for each record; those of bad
  // ones mean nothing.
  struct Bad {
    std::uint32_t record;
    const char* why;
  };
  PlainArray<Digest> digests;
  PlainArray<std::uint32_t> weights;  // empty: no importance
  PlainArray<std::int64_t> times;     // empty: not asked for
  std::vector<Bad> bad;               // ascending
  std::size_t judged = 0;             // records that count: fewer when a bad one ends the run

  // Set by the filter station.
  PlainArray<Verdict> verdicts;
  PlainArray<std::uint64_t> counts;  // of a sketch

  [[nodiscard]] std::size_t records() const noexcept { return ends.size(); }
  [[nodiscard]] std::uint64_t begin_of(std::size_t i) const noexcept {
    return i == 0 ? 0 : ends[i - 1];
  }
  [[nodiscard]] std::string_view record(std::size_t i) const noexcept {
    return {buffer.data() + begin_of(i), ends[i] - begin_of(i)};
  }
  [[nodiscard]] bool terminated(std::size_t i) const noexcept {
    return !(unterminated && i + 1 == ends.size());
  }
  [[nodiscard]] std::string_view without_terminator(std::size_t i) const noexcept {
    std::string_view whole = record(i);
    if (terminated(i)) whole.remove_suffix(terminator);
    return whole;
  }
};

}  // namespace weir
