// How long a block, and how much of its strong sum is kept.
//
// Block. A signature of a file of n bytes in blocks of B costs (w + s) n / B bytes, w = 4 for the
// weak sum and s for the strong one. Each of e scattered edits spoils one block, which then travels
// as B literal bytes, or c B after compression. The total
//
//   T(B) = (w + s) n / B + e c B       is least at       B = sqrt((w + s) n / (e c)).
//
// e and c are not known beforehand. With B = sqrt(n), which is also rsync's choice, a file with
// e c = w + s, some six to twenty edits, is met exactly; with ten times fewer or more the total is
// 1.7 times the least: (sqrt(10) + 1/sqrt(10)) / 2. Below 256 bytes a block's sums and the command
// that copies it weigh too much against what they spare. B is a multiple of 8, at most 128 KiB.
//
// Strong sum. At each of the n places of the new file its block is held against all m = n / B
// blocks of the old one. Two different blocks agree in all kept bits with chance 2^-(32 + 8 s), so
// that over a whole file
//
//   P(a block is taken for another) <= n m 2^-(32 + 8 s).
//
// s is the least for which this is below 2^-safety. A false match costs a transfer, never a wrong
// file: the whole file's BLAKE2b-256 is checked. So a signature that goes to a file, which nobody
// repeats in an instant, takes safety = 40 (one failure in 10^12 files), and weir sync, which asks
// again with full sums by itself, 12: a byte more a block would cost more than one file in 4096.
// Where nothing is checked (rdiff's format) all of the strong sum is kept. All this holds for
// chance: whoever can choose the contents of both files can make blocks that agree in short sums,
// and thereby make a delta fail, but not succeed wrongly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace weir {

inline constexpr std::uint32_t least_block = 256, most_block = 128 << 10;
inline constexpr std::uint32_t unknown_block = 2048;  // for a pipe; fits files of about 4 MiB
inline constexpr std::uint32_t full_strong = 32;
inline constexpr int safety_of_files = 40, safety_of_sync = 12;

// 0: not known.
inline std::uint32_t block_for(std::uint64_t file_bytes) {
  if (file_bytes == 0) return unknown_block;
  const double root = std::sqrt(static_cast<double>(file_bytes));
  const auto rounded = (static_cast<std::uint64_t>(root) + 7) / 8 * 8;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rounded, least_block, most_block));
}

inline double log2_false_match(std::uint64_t file_bytes, std::uint32_t block,
                               std::uint32_t strong) {
  const double n = static_cast<double>(std::max<std::uint64_t>(file_bytes, 1));
  return std::log2(n) + std::log2(std::max(n / block, 1.0)) - 32 - 8.0 * strong;
}

inline std::uint32_t strong_for(std::uint64_t file_bytes, std::uint32_t block, int safety) {
  // Of a pipe nothing is known: it may well have a terabyte.
  if (file_bytes == 0) file_bytes = std::uint64_t{1} << 40;
  std::uint32_t strong = 1;
  while (strong < full_strong && log2_false_match(file_bytes, block, strong) > -safety) ++strong;
  return strong;
}

}  // namespace weir
