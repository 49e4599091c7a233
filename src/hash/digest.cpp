#include "weir/digest.hpp"

#include <sodium.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "core/bits.hpp"
#include "hash/siphash_lanes.hpp"

namespace weir {
namespace {

Digest xxh3(std::string_view key, const Digester::Secret& secret) noexcept {
  return XXH3_64bits_withSecret(key.data(), key.size(), secret.data(), secret.size());
}

Digest siphash(std::string_view key, const Digester::Secret& secret) noexcept {
  static_assert(crypto_shorthash_BYTES == sizeof(Digest));
  static_assert(crypto_shorthash_KEYBYTES <= Digester::secret_size);
  unsigned char out[crypto_shorthash_BYTES];
  crypto_shorthash(out, reinterpret_cast<const unsigned char*>(key.data()), key.size(),
                   reinterpret_cast<const unsigned char*>(secret.data()));
  Digest digest;
  std::memcpy(&digest, out, sizeof digest);
  return digest;
}

// Four at a time where their lengths allow it.
void siphash(std::span<const std::string_view> keys, const Digester::Secret& secret,
             std::span<Digest> digests) noexcept {
  std::uint64_t k[2];
  std::memcpy(k, secret.data(), sizeof k);
  constexpr std::size_t lanes = SiphashLanes::lanes;
  std::size_t i = 0;
  while (i < keys.size()) {
    bool even = keys.size() - i >= lanes;
    for (std::size_t j = 1; j < lanes && even; ++j)
      even = keys[i].size() / 8 == keys[i + j].size() / 8;
    if (even) {
      SiphashLanes(k[0], k[1]).hash(&keys[i], &digests[i]);
      i += lanes;
    } else {
      digests[i] = siphash(keys[i], secret);
      ++i;
    }
  }
}

}  // namespace

Digester Digester::random(HashKind kind) {
  Secret secret;
  randombytes_buf(secret.data(), secret.size());
  return {kind, secret};
}

Digester Digester::from_seed(HashKind kind, std::uint64_t seed) {
  Secret secret;
  Draws draws(mix(seed, 0x5ec7e7));
  for (std::size_t at = 0; at < secret.size(); at += 8) {
    const std::uint64_t word = draws.next();
    std::memcpy(secret.data() + at, &word, 8);
  }
  return {kind, secret};
}

Digest Digester::operator()(std::string_view key) const noexcept {
  return kind_ == HashKind::Xxh3 ? xxh3(key, secret_) : siphash(key, secret_);
}

void Digester::operator()(std::span<const std::string_view> keys,
                          std::span<Digest> digests) const noexcept {
  if (kind_ == HashKind::Xxh3)
    for (std::size_t i = 0; i < keys.size(); ++i) digests[i] = xxh3(keys[i], secret_);
  else
    siphash(keys, secret_, digests);
}

}  // namespace weir
