// Walks over the fields of a record: separated by a byte, by blanks, or as a row of CSV.
//
// All three call found(index, bytes, quoted) for each field from the left until it returns false;
// they return why the record cannot be read, or null.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "source/byte_search.hpp"

namespace weir {

// The places of a byte in a record, 64 bytes at a time.
class PlacesOf {
 public:
  PlacesOf(char byte, std::string_view record) : byte_(byte), record_(record) { load(); }
  // The first place at or behind `from`, which never goes back; record.size() if there is none.
  std::size_t from(std::size_t from) noexcept {
    for (;;) {
      if (from < block_ + 64) {
        const std::uint64_t left =
            from > block_ ? places_ >> (from - block_) << (from - block_) : places_;
        if (left != 0) return block_ + static_cast<unsigned>(std::countr_zero(left));
      }
      if (block_ + 64 >= record_.size()) return record_.size();
      block_ += 64;
      load();
    }
  }

 private:
  void load() noexcept {
    places_ = record_.empty() ? 0
                              : first_places(places_of(byte_, record_.data() + block_),
                                             record_.size() - block_);
  }
  char byte_;
  std::string_view record_;
  std::size_t block_ = 0;
  std::uint64_t places_ = 0;
};

template <class Found>
const char* walk_separated(std::string_view record, char separator, Found found) {
  PlacesOf separators(separator, record);
  for (std::size_t begin = 0, index = 0;; ++index) {
    const std::size_t end = separators.from(begin);
    if (!found(index, record.substr(begin, end - begin), false) || end == record.size())
      return nullptr;
    begin = end + 1;
  }
}

// Runs of spaces and tabs separate; those in front and at the end do not count.
template <class Found>
const char* walk_blanks(std::string_view record, Found found) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  std::size_t at = 0;
  for (std::size_t index = 0;; ++index) {
    while (at < record.size() && blank(record[at])) ++at;
    if (at == record.size()) return nullptr;
    const std::size_t begin = at;
    while (at < record.size() && !blank(record[at])) ++at;
    if (!found(index, record.substr(begin, at - begin), false)) return nullptr;
  }
}

// A quoted field is given without its quotes; doubled ones in it are still double (unquote).
template <class Found>
const char* walk_csv(std::string_view row, char separator, Found found) {
  if (row.empty()) return nullptr;  // a blank line has no fields
  PlacesOf separators(separator, row);
  PlacesOf quotes('"', row);
  for (std::size_t begin = 0, index = 0;; ++index) {
    std::size_t end;
    bool more;
    if (begin < row.size() && row[begin] == '"') {
      std::size_t close = quotes.from(begin + 1);
      while (close + 1 < row.size() && row[close + 1] == '"') close = quotes.from(close + 2);
      if (close >= row.size()) return "its quotes are never closed";
      end = close + 1;
      if (end < row.size() && row[end] != separator) return "it has text behind closing quotes";
      more = found(index, row.substr(begin + 1, close - begin - 1), true);
    } else {
      end = separators.from(begin);
      more = found(index, row.substr(begin, end - begin), false);
    }
    if (!more || end == row.size()) return nullptr;
    begin = end + 1;
  }
}

}  // namespace weir
