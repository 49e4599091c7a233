// Which bytes identify a record, and their digest: from a chunk's records to its digests, weights,
// times and bad records.
//
//   all of the record   the bytes without the terminator
//   fields              joined with the separator; of blanks, with one space
//   CSV columns         one: its value, without quotes; several: each with its length in front
//   JSON                the values in one form for equal values (json_value.hpp)
//
// A record without its key is bad, and no filter gets to see it. The options are fixed and the
// header is met under the source's lock before the first chunk of rows leaves it, so that any
// number of threads can work here, each with its own Scratch.
#pragma once

#include <simdjson.h>

#include <string>
#include <vector>

#include "key/plain_json.hpp"
#include "key/selection.hpp"
#include "source/chunk.hpp"
#include "weir/dedup.hpp"

namespace weir {

class Keys {
 public:
  // Throws Error(Config).
  Keys(const DedupOptions& options, const Digester& digester);

  // Finds the columns by name. Throws Error(Config).
  void read_header(std::string_view row);

  struct Scratch {
    std::string key;
    simdjson::dom::parser json;
    std::vector<std::string_view> values;
    std::string shown;
  };
  // Sets digests, weights, times, bad and judged.
  void digest(Chunk& chunk, Scratch& scratch) const;
  // The same without digests: calls take(record number, key) for each record that has a key, in
  // order. A key's bytes stay until the next one.
  template <class Take>
  void each(Chunk& chunk, Scratch& scratch, Take take) const {
    chunk.judged = chunk.records();
    chunk.bad.clear();
    if (chunk.piece) {
      if (chunk.first_piece) chunk.bad.push_back({0, fault_of(chunk, 0)});
      return;
    }
    for (std::size_t i = chunk.heads; i < chunk.records(); ++i) {
      std::string_view key;
      Beside beside;
      const char* bad = fault_of(chunk, i);
      if (bad == nullptr) bad = key_of(row_or_record(chunk, i), scratch, key, beside);
      if (bad != nullptr)
        chunk.bad.push_back({static_cast<std::uint32_t>(i), bad});
      else
        take(i, key);
    }
  }
  // The key of a record that is not bad, for people: several columns joined by the separator. It
  // stays until the scratch is used again.
  std::string_view text(const Chunk& chunk, std::size_t record, Scratch& scratch) const;

 private:
  enum class Way : std::uint8_t { Whole, Separated, Blanks, Csv, Json };
  struct Beside {  // what stands in a record beside its key
    std::uint32_t weight = 1;
    std::int64_t time = 0;
  };
  struct Wanted {
    bool given = false;
    std::uint64_t field = 0;
  };

  [[nodiscard]] std::string_view row_or_record(const Chunk& chunk, std::size_t i) const;
  // What is wrong with a record whatever its key, or null.
  [[nodiscard]] const char* fault_of(const Chunk& chunk, std::size_t i) const noexcept;
  void digest_whole(Chunk& chunk) const;
  void mark_too_long(Chunk& chunk) const;
  template <class Walk>
  const char* key_of_fields(std::string_view record, Walk walk, Scratch& scratch,
                            std::string_view& key, Beside& beside) const;
  bool digest_plain_json(Chunk& chunk, Scratch& scratch) const;
  bool key_of_values(Scratch& scratch, std::string_view& key) const;
  bool digest_json_together(Chunk& chunk, Scratch& scratch) const;
  const char* key_of_json(std::string_view record, Scratch& scratch, Beside& beside) const;
  const char* key_of_document(simdjson::dom::element document, Scratch& scratch,
                              Beside& beside) const;
  const char* key_of(std::string_view record, Scratch& scratch, std::string_view& key,
                     Beside& beside) const;
  [[nodiscard]] std::uint32_t weight_of(double number) const;
  void keep(Chunk& chunk, std::size_t i, const Beside& beside) const;
  void settle_fields();
  std::uint64_t column_number(const std::string& column,
                              const std::vector<std::string>& names) const;

  const DedupOptions& options_;
  const Digester& digester_;
  Way way_ = Way::Whole;
  PlainJson plain_;
  std::vector<FieldRange> fields_;
  Wanted importance_, time_;
  std::uint64_t last_field_ = 0;  // the last one of interest
  bool one_field_ = false;
};

}  // namespace weir
