// Signatures, deltas and patches in memory, for tests and the fuzzer.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../checkpoint/forger.hpp"
#include "weir/sync.hpp"

namespace weir::test {

inline ReadSome reading(const Bytes& bytes, std::size_t at_once = SIZE_MAX) {
  return [&bytes, at_once, at = std::size_t{0}](std::span<std::byte> to) mutable {
    const std::size_t count = std::min({to.size(), at_once, bytes.size() - at});
    if (count > 0) std::memcpy(to.data(), bytes.data() + at, count);
    at += count;
    return count;
  };
}
inline ReadAt reading_at(const Bytes& bytes) {
  return [&bytes](std::uint64_t at, std::span<std::byte> to) {
    const std::size_t from = std::min<std::size_t>(at, bytes.size());
    const std::size_t count = std::min(to.size(), bytes.size() - from);
    if (count > 0) std::memcpy(to.data(), bytes.data() + from, count);
    return count;
  };
}

inline Bytes signature_of(const Bytes& old, SignatureOptions options = {}) {
  BytesSink out;
  options.old_size = old.size();
  write_signature(reading(old), out, options);
  return std::move(out.bytes);
}
inline Bytes delta_of(const Bytes& signature, const Bytes& fresh, const DeltaOptions& options = {},
                      DeltaStats* stats = nullptr) {
  BytesSink out;
  const DeltaStats made =
      write_delta(Signature::read(reading(signature)), reading(fresh), out, options);
  if (stats != nullptr) *stats = made;
  return std::move(out.bytes);
}
inline Bytes patched(const Bytes& old, const Bytes& delta, std::size_t at_once = SIZE_MAX) {
  BytesSink out;
  apply_delta(reading_at(old), old.size(), reading(delta, at_once), out);
  return std::move(out.bytes);
}

inline Bytes random_bytes(std::mt19937_64& random, std::size_t size, int letters = 256) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = std::byte(random() % static_cast<unsigned>(letters));
  return bytes;
}

// Insertions, removals, changes and moved pieces.
inline Bytes edited(std::mt19937_64& random, Bytes bytes, int edits) {
  const auto place = [&] { return static_cast<std::ptrdiff_t>(random() % (bytes.size() + 1)); };
  for (int i = 0; i < edits; ++i) {
    const std::ptrdiff_t at = place();
    const auto length = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(random() % 700),
                                                 static_cast<std::ptrdiff_t>(bytes.size()) - at);
    const Bytes piece(bytes.begin() + at, bytes.begin() + at + length);
    switch (random() % 4) {
      case 0: {
        const Bytes more = random_bytes(random, random() % 300);
        bytes.insert(bytes.begin() + at, more.begin(), more.end());
        break;
      }
      case 1:
        bytes.erase(bytes.begin() + at, bytes.begin() + at + length);
        break;
      case 2:
        for (std::ptrdiff_t j = 0; j < length; ++j) bytes[at + j] ^= std::byte{1};
        break;
      default:
        bytes.erase(bytes.begin() + at, bytes.begin() + at + length);
        bytes.insert(bytes.begin() + place(), piece.begin(), piece.end());
    }
  }
  return bytes;
}

}  // namespace weir::test
