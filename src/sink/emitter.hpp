// Where verdicts go: first ones, repeats, marks, counts.
//
// What a chunk gives to the output is prepared by the thread that has the chunk, and written with
// one call when it is the chunk's turn. Where records are passed on as they are, they move
// together inside the chunk's own buffer: a chunk of new records only is written without a copy.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sink/output.hpp"
#include "source/chunk.hpp"
#include "weir/dedup.hpp"

namespace weir {

class Emitter {
 public:
  // Opens the files; goes on with them where the position says so. Throws Error(Io).
  explicit Emitter(const DedupOptions& options);

  struct Prepared {
    std::string_view main, side;
    bool main_open = false, side_open = false;  // the last record there lacks its terminator
    std::uint64_t records = 0, bytes = 0, first = 0, repeats = 0, bad = 0;
    std::string main_text, side_text;  // what `main` and `side` point to, if not the chunk
  };
  // Moves the chunk's records about; they are gone afterwards.
  void prepare(Chunk& chunk, Prepared& prepared) const;
  // In the order of the chunks.
  void write(const Chunk& chunk, const Prepared& prepared);

  void sync();
  void close();
  [[nodiscard]] const Output& output() const noexcept { return output_; }
  [[nodiscard]] const Output* repeats() const noexcept { return repeats_ ? &*repeats_ : nullptr; }

 private:
  void prepare_piece(Chunk& chunk, Prepared& prepared) const;
  void append_prefixed(const Chunk& chunk, std::size_t record, bool bad, Prepared& prepared) const;
  void keep_in_place(Chunk& chunk, Verdict kept, Prepared& prepared) const;

  const DedupOptions& options_;
  Output output_;
  std::optional<Output> repeats_;
  char terminator_;
};

}  // namespace weir
