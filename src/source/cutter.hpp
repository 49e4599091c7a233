// Cuts bytes into records: lines, NUL-terminated, of fixed width, or rows of CSV.
//
// A row of CSV (RFC 4180) ends with the first newline that is not inside quotes. Quotes open
// where a field begins with one, and close with one that is not doubled; a quote in the middle of
// a field is an ordinary byte. Rows are cut here, fields are the key's business.
#pragma once

#include <algorithm>
#include <cstdint>

#include "source/byte_search.hpp"
#include "source/plain_array.hpp"
#include "weir/dedup.hpp"

namespace weir {

class Cutter {
 public:
  explicit Cutter(const RecordFormat& format)
      : format_(format), terminator_(format.kind == Records::Nul ? '\0' : '\n') {}

  [[nodiscard]] std::uint32_t terminator_bytes() const noexcept {
    return format_.kind == Records::Fixed ? 0 : 1;
  }

  // Appends the ends of records in data[from, to) until there are `most` of them; returns how
  // far it looked. Bytes before `from` were looked at by the call before; record_begin is
  // where the record that `from` is in began. 64 bytes behind `to` may be read.
  std::uint64_t cut(const char* data, std::uint64_t record_begin, std::uint64_t from,
                    std::uint64_t to, std::size_t most, PlainArray<std::uint64_t>& ends) {
    switch (format_.kind) {
      case Records::Fixed:
        return cut_fixed(record_begin, from, to, most, ends);
      case Records::Csv:
        return cut_rows(data, record_begin, from, to, most, ends);
      default:
        return cut_lines(data, from, to, most, ends);
    }
  }
  // The next byte begins a record, whatever came before.
  void restart() noexcept { quote_ = Quote::Outside; }
  // The record at hand goes on in a new buffer.
  void moved(std::uint64_t bytes, char last) noexcept {
    closed_at_ -= bytes;
    before_ = last;
  }
  // The input ended inside quotes.
  [[nodiscard]] bool open() const noexcept { return quote_ == Quote::Inside; }

 private:
  std::uint64_t cut_lines(const char* data, std::uint64_t from, std::uint64_t to, std::size_t most,
                          PlainArray<std::uint64_t>& ends) const {
    std::size_t count = ends.size();
    ends.resize(most + 64);  // whole masks are written; cut to size below
    std::uint64_t* const out = ends.data();
    for (; from < to && count < most; from += 64) {
      std::uint64_t mask = first_places(places_of(terminator_, data + from), to - from);
      const std::size_t here = static_cast<std::size_t>(std::popcount(mask));
      // Two writes without asking: lines are seldom shorter than 32 bytes, and how many ends
      // 64 bytes hold is what a branch predictor cannot know.
      out[count] = from + static_cast<unsigned>(std::countr_zero(mask)) + 1;
      mask &= mask - 1;
      out[count + 1] = from + static_cast<unsigned>(std::countr_zero(mask)) + 1;
      mask &= mask - 1;
      for (std::size_t i = 2; mask != 0; ++i, mask &= mask - 1)
        out[count + i] = from + static_cast<unsigned>(std::countr_zero(mask)) + 1;
      count += here;
    }
    if (count > most) {  // go on behind the last one wanted
      count = most;
      from = out[most - 1];
    }
    ends.resize(count);
    return std::min(from, to);
  }

  std::uint64_t cut_fixed(std::uint64_t begin, std::uint64_t, std::uint64_t to, std::size_t most,
                          PlainArray<std::uint64_t>& ends) const {
    for (; ends.size() < most && to - begin >= format_.width; begin += format_.width)
      ends.push_back(begin + format_.width);
    return to;
  }

  std::uint64_t cut_rows(const char* data, std::uint64_t record_begin, std::uint64_t from,
                         std::uint64_t to, std::size_t most, PlainArray<std::uint64_t>& ends) {
    std::uint64_t field_from = record_begin;  // a quote here opens
    for (; from < to && ends.size() < most; from += 64) {
      const std::uint64_t newlines = places_of('\n', data + from);
      const std::uint64_t quotes = places_of('"', data + from);
      for (std::uint64_t mask = first_places(newlines | quotes, to - from); mask != 0;
           mask &= mask - 1) {
        const unsigned place = static_cast<unsigned>(std::countr_zero(mask));
        const std::uint64_t at = from + place;
        if ((quotes >> place & 1) != 0) {
          if (quote_ == Quote::Inside) {
            quote_ = Quote::Closed;
            closed_at_ = at;
          } else if (quote_ == Quote::Closed && at == closed_at_ + 1) {
            quote_ = Quote::Inside;  // doubled
          } else if (at == field_from || (at > 0 ? data[at - 1] : before_) == format_.separator) {
            quote_ = Quote::Inside;
          }
        } else if (quote_ != Quote::Inside) {
          quote_ = Quote::Outside;
          ends.push_back(at + 1);
          field_from = at + 1;
          if (ends.size() == most) return at + 1;
        }
      }
    }
    return std::min(from, to);
  }

  enum class Quote : std::uint8_t { Outside, Inside, Closed };
  RecordFormat format_;
  char terminator_;
  Quote quote_ = Quote::Outside;
  std::uint64_t closed_at_ = 0;  // in the buffer of the record at hand
  char before_ = 0;              // the byte before that buffer, inside a record
};

}  // namespace weir
