// The words of weir intersect, in the order in which they are said. Numbers are little-endian.
//
//   here   Begin   16 bytes of secret for the digests
//   there  Count   keys (8), their bytes (8), bytes of a key on the wire (double), memory of a
//                  filter in bytes (8)
//   then for each part:
//   here   Part    number (4), of (4), m (8), k (4), bytes of the coded array (8), longest key
//                  here (8), keys in a batch (8); m = 0: no filter, send all keys
//   here   Array   the coded array, in pieces
//   there  Keys    a zstd stream of keys, in pieces; a key has its length in front, 7 bits a byte,
//                  the low ones first, the last byte below 128
//   there  Pause   the batch is full; the stream was flushed
//   here   Next    go on
//   there  End     the stream has ended; keys sent in this part (8)
//   and after all:
//   here   Done
#pragma once

#include <zstd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exchange/key_set.hpp"
#include "weir/error.hpp"
#include "weir/intersect.hpp"

namespace weir::words {

inline constexpr std::uint32_t version = 1;
enum : std::uint8_t { Begin = Channel::First, Count, Part, Array, Keys, Pause, Next, End, Done };
inline constexpr std::size_t piece_bytes = 256 << 10;

// Which part a key belongs to.
inline std::uint32_t part_of(const KeyDigest& digest, std::uint32_t parts) noexcept {
  return static_cast<std::uint32_t>(reduce(digest.high, parts));
}

// What of the memory may be used for what: an exact set, a filter.
inline std::uint64_t set_memory(std::uint64_t memory) { return memory / 2; }
inline std::uint64_t filter_memory(std::uint64_t memory) { return memory / 4; }

// What either side knows of itself.
void put_own(const KeySet& set, const Channel& channel, std::chrono::steady_clock::time_point begin,
             IntersectStats& stats);

class KeyWriter {
 public:
  using Hand = std::function<void(std::span<const std::byte>)>;  // gets pieces of the stream

  explicit KeyWriter(Hand hand);
  void put(std::string_view key);
  void flush();
  void end();

 private:
  void press(std::string_view bytes, ZSTD_EndDirective how);

  Hand hand_;
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> zstd_;
  std::vector<char> out_;
};

class KeyReader {
 public:
  using Take = std::function<void(std::string_view key)>;

  // A key that is longer than `longest` is passed over: take() gets none of it.
  KeyReader(std::uint64_t longest, Take take);
  void feed(std::span<const std::byte> piece);
  // Everything that was fed made whole keys.
  [[nodiscard]] bool between_keys() const noexcept { return !in_length_ && missing_ == 0; }
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }

 private:
  void cut(std::string_view bytes);
  void finish();

  std::uint64_t longest_;
  Take take_;
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> zstd_;
  std::vector<char> out_;
  std::string key_;
  std::uint64_t length_ = 0, missing_ = 0, keys_ = 0;
  unsigned shift_ = 0;
  bool in_length_ = false;
};

}  // namespace weir::words
