// SipHash-2-4 (Aumasson, Bernstein 2012) of several keys side by side.
//
// The steps of one hash wait for each other; those of four keys do not, and fill the processor: a
// short key takes about half the time of one call of libsodium each. The keys must have the same
// number of whole 8-byte words; the result is libsodium's, bit for bit (tests/hash).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace weir {

class SiphashLanes {
 public:
  static constexpr std::size_t lanes = 4;
  SiphashLanes(std::uint64_t k0, std::uint64_t k1) noexcept {
    for (std::size_t i = 0; i < lanes; ++i) {
      a_[i] = k0 ^ 0x736f6d6570736575ULL;  // "somepseudorandomlygeneratedbytes"
      b_[i] = k1 ^ 0x646f72616e646f6dULL;
      c_[i] = k0 ^ 0x6c7967656e657261ULL;
      d_[i] = k1 ^ 0x7465646279746573ULL;
    }
  }

  void hash(const std::string_view* keys, std::uint64_t* out) noexcept {
    const std::size_t words = keys[0].size() / 8;
    std::uint64_t word[lanes];
    for (std::size_t w = 0; w < words; ++w) {
      for (std::size_t i = 0; i < lanes; ++i) std::memcpy(&word[i], keys[i].data() + 8 * w, 8);
      take(word);
    }
    for (std::size_t i = 0; i < lanes; ++i) word[i] = last_word(keys[i], words);
    take(word);
    for (std::uint64_t& c : c_) c ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    for (std::size_t i = 0; i < lanes; ++i) out[i] = a_[i] ^ b_[i] ^ c_[i] ^ d_[i];
  }

 private:
  // What is left, and the length in the highest byte.
  static std::uint64_t last_word(std::string_view key, std::size_t words) noexcept {
    std::uint64_t word = std::uint64_t{key.size()} << 56;
    for (std::size_t i = 8 * words; i < key.size(); ++i)
      word |= std::uint64_t{static_cast<unsigned char>(key[i])} << (8 * (i % 8));
    return word;
  }
  void take(const std::uint64_t* word) noexcept {
    for (std::size_t i = 0; i < lanes; ++i) d_[i] ^= word[i];
    round();
    round();
    for (std::size_t i = 0; i < lanes; ++i) a_[i] ^= word[i];
  }
  void round() noexcept {
    for (std::size_t i = 0; i < lanes; ++i) {
      a_[i] += b_[i], b_[i] = std::rotl(b_[i], 13) ^ a_[i], a_[i] = std::rotl(a_[i], 32);
      c_[i] += d_[i], d_[i] = std::rotl(d_[i], 16) ^ c_[i];
      a_[i] += d_[i], d_[i] = std::rotl(d_[i], 21) ^ a_[i];
      c_[i] += b_[i], b_[i] = std::rotl(b_[i], 17) ^ c_[i], c_[i] = std::rotl(c_[i], 32);
    }
  }

  std::uint64_t a_[lanes], b_[lanes], c_[lanes], d_[lanes];
};

}  // namespace weir
