// Key bytes -> 64-bit digest, with a secret.
//
// Everything behind this point sees digests only. With a public hash, whoever may
// choose keys can raise the false-positive rate tenfold or have chosen records
// swallowed, so each structure hashes with a secret of its own:
//   Xxh3     XXH3-64 with a random 192-byte secret. The default; fast.
//   SipHash  SipHash-2-4 with a 128-bit key, a keyed pseudo-random function. For
//            keys chosen by adversaries.
// Two different keys share a digest with probability 2^-64, so n keys put a floor
// of n / 2^64 under every false-positive rate: 5e-9 for 10^11 keys.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weir {

using Digest = std::uint64_t;

enum class HashKind : std::uint8_t { Xxh3 = 1, SipHash = 2 };

class Digester {
 public:
  static constexpr std::size_t secret_size = 192;
  using Secret = std::array<std::byte, secret_size>;

  // A secret nobody knows, from the system's generator.
  static Digester random(HashKind kind);
  // The secret follows from the seed: the same seed gives the same digests for ever.
  // Whoever knows the seed can craft keys.
  static Digester from_seed(HashKind kind, std::uint64_t seed);
  // SipHash uses the first 16 bytes.
  static Digester from_secret(HashKind kind, const Secret& secret) { return {kind, secret}; }

  [[nodiscard]] Digest operator()(std::string_view key) const noexcept;
  // digests.size() must equal keys.size().
  void operator()(std::span<const std::string_view> keys, std::span<Digest> digests) const noexcept;

  [[nodiscard]] HashKind kind() const noexcept { return kind_; }
  [[nodiscard]] const Secret& secret() const noexcept { return secret_; }

 private:
  Digester(HashKind kind, const Secret& secret) : secret_(secret), kind_(kind) {}

  Secret secret_;
  HashKind kind_;
};

}  // namespace weir
