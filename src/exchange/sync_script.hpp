// How a file is put together, step by step, as weir sync sends it; and how little can be sent.
//
// One round of sums with blocks of B finds all but about a block around each edit. A second round
// with much smaller blocks, only over what neither side has matched yet, finds nearly all of the
// rest: the parts of the old file that no step copies, laid end to end, are the old file of that
// round, and the literals, laid end to end, its new file. With sums of w bytes a block, e edits and
// literals that shrink to a share c:
//
//   one round    w n / B + e c B               least about 2 sqrt(w n e c) at B = sqrt(w n / (e c))
//   two rounds   w n / B + w e B / b + e c b   b = sqrt(w B / c), which leaves 2 e sqrt(w c B)
//                                              least at B = (n sqrt(w / c) / e)^(2/3)
//
// so that B grows with n^(2/3), and the traffic of a large file with few edits with n^(1/3). For
// the first round e is guessed as 20, w is 6 and c 0.3; for the second round they are known: e is
// the number of literal runs, or one for every two blocks of literals where these are long.
//
// On the wire: a number a step. Odd: copy half of it (rounded down) from the old file, and a number
// for the place, counted from the end of the last copy. Even: half of it literal bytes, which
// follow, but not in a plan for a second round. 0: the end.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "exchange/block_size.hpp"
#include "exchange/delta_commands.hpp"
#include "exchange/talk.hpp"

namespace weir {

struct Step {
  bool copy = false;
  std::uint64_t at = 0, length = 0;  // of a literal the place is in the new file
};
using Script = std::vector<Step>;

// Parts of a file, laid end to end.
class Parts {
 public:
  void add(std::uint64_t at, std::uint64_t length);
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] ReadAt of(const ReadAt& file) const;  // valid as long as both
 private:
  struct Part {
    std::uint64_t from, at, length;  // where it begins here, and in the file
  };
  std::vector<Part> parts_;
  std::uint64_t size_ = 0;
};
// A file that can be read at any place, from its beginning on.
ReadSome from_start(ReadAt file);

Parts literals_of(const Script& script);
Parts never_copied(const Script& script, std::uint64_t old_size);

// Steps without literal bytes.
void send_plan(Talk& talk, const Script& script);
// Throws Error(Io) where it copies from behind the end or makes more than `most` bytes.
Script receive_plan(Talk& talk, std::uint64_t old_size, std::uint64_t most);

// Steps with literal bytes, which are read from the new file.
void send_script(Talk& talk, const Script& script, const ReadAt& fresh);
// The same at the other side, for a Patcher.
class ScriptCommands {
 public:
  explicit ScriptCommands(Talk& talk) : talk_(talk), buffer_(64 << 10) {}
  DeltaCommands::Kind next();
  [[nodiscard]] const DeltaCommands::Copy& copy() const noexcept { return copy_; }
  [[nodiscard]] std::span<const std::byte> literal() const noexcept { return literal_; }

 private:
  Talk& talk_;
  std::vector<std::byte> buffer_;
  DeltaCommands::Copy copy_;
  std::uint64_t expected_ = 0, literal_left_ = 0;
  std::span<const std::byte> literal_;
};

inline constexpr double sums_guess = 6, shrink_guess = 0.3, edits_guess = 20;

// Of the first of two rounds.
inline std::uint32_t first_block_for(std::uint64_t file_bytes) {
  const double n = static_cast<double>(file_bytes);
  const double best = std::pow(n * std::sqrt(sums_guess / shrink_guess) / edits_guess, 2.0 / 3);
  const auto rounded = (static_cast<std::uint64_t>(best) + 7) / 8 * 8;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rounded, least_block, most_block));
}

// Of the second, or 0: it would cost more than it spares.
std::uint32_t second_block_for(const Script& script, std::uint64_t old_size, std::uint32_t block);

}  // namespace weir
