// An exact set of keys by their 128-bit digests (SipHash-2-4-128 with a secret of the exchange).
// Two of n and m different keys share one with probability nm / 2^128: 3e-21 for 10^9 and 10^9.
// Open addressing, 16 bytes a place; grows by doubling until it may not, and says so.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/bits.hpp"

namespace weir {

struct KeyDigest {
  std::uint64_t low = 0, high = 0;
  bool operator==(const KeyDigest&) const = default;
};

using ExchangeSecret = std::array<unsigned char, 16>;
ExchangeSecret random_secret();
KeyDigest digest_key(std::string_view key, const ExchangeSecret& secret) noexcept;

class DigestSet {
 public:
  enum class Put : std::uint8_t { New, There, Full };

  // At most so many bytes, the moment of growing included.
  explicit DigestSet(std::uint64_t bytes)
      : most_places_(std::max<std::uint64_t>(bytes / sizeof(KeyDigest) * 2 / 3, 64)) {
    clear();
  }

  Put put(KeyDigest digest) {
    const std::uint64_t at = find(digest);
    if (places_[at] == digest) return Put::There;
    if (held_ * 5 >= places_.size() * 4) {
      if (places_.size() * 2 > most_places_) return Put::Full;
      grow();
      places_[find(digest)] = digest;
    } else {
      places_[at] = digest;
    }
    ++held_;
    return Put::New;
  }
  [[nodiscard]] bool contains(KeyDigest digest) const noexcept {
    return places_[find(digest)] == digest;
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return held_; }
  // Keys that fit for certain.
  [[nodiscard]] std::uint64_t room() const noexcept {
    std::uint64_t places = first_places;
    while (places * 2 <= most_places_) places *= 2;
    return places * 4 / 5;
  }
  void clear() {
    places_.assign(first_places, {});
    places_.shrink_to_fit();
    held_ = 0;
  }

 private:
  static constexpr std::uint64_t first_places = 64;

  // Where it is, or the free place for it. The digest of nothing but zeros marks a free one, and
  // digest_key() never gives it.
  [[nodiscard]] std::uint64_t find(KeyDigest digest) const noexcept {
    std::uint64_t at = reduce(digest.low, places_.size());
    while (places_[at] != KeyDigest{} && places_[at] != digest)
      at = at + 1 == places_.size() ? 0 : at + 1;
    return at;
  }
  void grow() {
    std::vector<KeyDigest> old(places_.size() * 2);
    old.swap(places_);
    for (const KeyDigest& digest : old)
      if (digest != KeyDigest{}) places_[find(digest)] = digest;
  }

  std::uint64_t most_places_, held_ = 0;
  std::vector<KeyDigest> places_;
};

}  // namespace weir
