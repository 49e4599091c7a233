// The sum that tells whether a whole file is the one that was meant: BLAKE2b-256 of libsodium.
#pragma once

#include <sodium.h>

#include "weir/error.hpp"
#include "weir/sync.hpp"

namespace weir {

class FileHash {
 public:
  FileHash() {
    // Chooses the implementation for this processor; once is enough, more often is harmless.
    if (sodium_init() < 0) throw Error(ErrorCode::Io, "libsodium cannot be used here");
    crypto_generichash_init(&state_, nullptr, 0, sum_.hash.size());
  }
  void add(std::span<const std::byte> bytes) {
    crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()),
                              bytes.size());
    sum_.size += bytes.size();
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return sum_.size; }
  // Once, at the end.
  FileSum sum() {
    crypto_generichash_final(&state_, reinterpret_cast<unsigned char*>(sum_.hash.data()),
                             sum_.hash.size());
    return sum_;
  }

 private:
  crypto_generichash_state state_;
  FileSum sum_;
};

}  // namespace weir
