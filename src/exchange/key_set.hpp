// The records of some inputs as a set of keys, read as often as it takes: each time the same
// records in the same order, or an error that says the file has changed.
//
// The first reading finds, for every key, the record that has it first:
//   (1) put each key's digest into an exact set; the first time, mark the record
//   (2) where the set is full, split the keys in two by a bit of their digests and begin again
//       with one half, then the other
// So the marks are exact in memory that does not grow with the set, at the price of more readings:
// one for every 50 million keys or so in 1 GiB. The marks take a bit a record.
// What can be read only once (a pipe) is first put into a temporary file that nobody else can see.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "exchange/digest_set.hpp"
#include "key/keys.hpp"
#include "source/source.hpp"
#include "weir/dedup.hpp"

namespace weir {

class Marks {
 public:
  // Whether it was not there before.
  bool set(std::uint64_t at) {
    if (at / 64 >= words_.size()) words_.resize(at / 64 + 1);
    const std::uint64_t bit = std::uint64_t{1} << (at % 64);
    const bool fresh = (words_[at / 64] & bit) == 0;
    words_[at / 64] |= bit;
    return fresh;
  }
  [[nodiscard]] bool get(std::uint64_t at) const noexcept {
    return at / 64 < words_.size() && (words_[at / 64] >> (at % 64) & 1) != 0;
  }

 private:
  std::vector<std::uint64_t> words_;
};

class KeySet {
 public:
  // `breathe` is called now and then during long work.
  KeySet(const DedupOptions& options, const ExchangeSecret& secret, std::uint64_t memory,
         std::function<void()> breathe);
  KeySet(const KeySet&) = delete;
  KeySet& operator=(const KeySet&) = delete;
  ~KeySet();

  // The first reading. `met` is called for every key that is marked, in no order to rely on.
  void read(const std::function<void(std::string_view key, KeyDigest digest)>& met);

  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }  // different ones
  [[nodiscard]] std::uint64_t key_bytes() const noexcept { return key_bytes_; }
  [[nodiscard]] std::uint64_t longest() const noexcept { return longest_; }
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  [[nodiscard]] std::uint64_t bad() const noexcept { return bad_; }
  [[nodiscard]] const std::string& first_bad() const noexcept { return first_bad_; }
  [[nodiscard]] std::uint32_t readings() const noexcept { return readings_; }

  // A further reading: take(record number, key, digest) for every record with a key, or only for
  // those that have it first.
  template <class Take>
  void each(Take take) {
    walk([&](Chunk& chunk, std::uint64_t before) {
      keys_of_.each(chunk, scratch_, [&](std::size_t i, std::string_view key) {
        take(before + i, key, digest_key(key, secret_));
      });
    });
  }
  template <class Take>
  void each_first(Take take) {
    walk([&](Chunk& chunk, std::uint64_t before) {
      keys_of_.each(chunk, scratch_, [&](std::size_t i, std::string_view key) {
        if (first_.get(before + i)) take(before + i, key, digest_key(key, secret_));
      });
    });
  }
  [[nodiscard]] bool has_key(std::uint64_t record) const noexcept { return !bad_ones_.get(record); }
  [[nodiscard]] bool is_first(std::uint64_t record) const noexcept { return first_.get(record); }

  // A further reading, of chunks: `before` is the number of the chunk's first record; headers
  // count.
  void walk(const std::function<void(Chunk& chunk, std::uint64_t before)>& take);

 private:
  bool mark_part(std::uint64_t prefix, unsigned bits,
                 const std::function<void(std::string_view, KeyDigest)>& met);
  void note_bad(const Chunk& chunk, std::uint64_t before);
  void keep_what_comes_once();

  DedupOptions options_;
  std::vector<std::string> shown_;  // the inputs as the user named them
  ExchangeSecret secret_;
  Digester unused_ = Digester::from_seed(HashKind::Xxh3, 0);
  Keys keys_of_;
  Keys::Scratch scratch_;
  std::function<void()> breathe_;
  std::uint64_t memory_;
  std::vector<int> kept_;  // descriptors of temporary files
  Marks first_, bad_ones_;
  std::uint64_t keys_ = 0, key_bytes_ = 0, longest_ = 0, records_ = 0, bad_ = 0;
  std::uint64_t places_ = 0;  // records, headers, and pieces of records
  std::string first_bad_;
  std::uint32_t readings_ = 0;
};

}  // namespace weir
