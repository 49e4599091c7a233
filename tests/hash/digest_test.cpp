#include "weir/digest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/bits.hpp"

namespace weir {
namespace {

constexpr HashKind both_hashes[] = {HashKind::Xxh3, HashKind::SipHash};

struct Vector {
  std::size_t length;
  Digest digest;
};

template <class ByteAt>
Digester::Secret secret_of(ByteAt byte_at) {
  Digester::Secret secret;
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(byte_at(i));
  return secret;
}
template <class ByteAt>
std::string key_of(std::size_t length, ByteAt byte_at) {
  std::string key(length, '\0');
  for (std::size_t i = 0; i < length; ++i) key[i] = static_cast<char>(byte_at(i));
  return key;
}

// Random keys of every length class of both hashes.
std::vector<std::string> varied_keys(std::size_t count) {
  Draws draws(11);
  std::vector<std::string> keys(count);
  for (std::string& key : keys)
    key = key_of(draws.below(300), [&](std::size_t) { return draws.next(); });
  return keys;
}

TEST(SipHash, GivesTheVectorsOfItsAuthors) {
  // Aumasson, Bernstein, reference code: key 00 01 .. 0f, input 00 01 .. of each length.
  constexpr Digest expected[] = {
      0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
      0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
      0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
      0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5};
  const auto itself = [](std::size_t i) { return i; };
  const Digester digester = Digester::from_secret(HashKind::SipHash, secret_of(itself));
  for (std::size_t length = 0; length < std::size(expected); ++length)
    EXPECT_EQ(digester(key_of(length, itself)), expected[length]) << "length " << length;
}

TEST(SipHash, UsesTheFirst16BytesOfTheSecretOnly) {
  Digester::Secret secret{}, tail = secret, head = secret;
  tail[16] = std::byte{1};
  head[15] = std::byte{1};
  const auto digest = [](const Digester::Secret& s) {
    return Digester::from_secret(HashKind::SipHash, s)("key");
  };
  EXPECT_EQ(digest(tail), digest(secret));
  EXPECT_NE(digest(head), digest(secret));
}

TEST(Xxh3, GivesTheVectorsOfASecondImplementation) {
  // By an implementation written from the specification; one vector or more for each of the
  // algorithm's length classes, and both sides of their limits.
  constexpr Vector vectors[] = {
      {0, 0x3308ecfb7fa9118b},    {1, 0x91a097416968f52f},    {3, 0x5e663251d2450bcf},
      {4, 0xcb79f59f76da0f37},    {8, 0xb0a957de55a5e368},    {9, 0x4bceef001d78f322},
      {16, 0x59878c836e5ff4b5},   {17, 0xf4fb12b2e91a0cbd},   {64, 0x1239ec6ad4e91b23},
      {128, 0x5bb812335b0b6ac6},  {129, 0x3e9aa14f0efcb6e4},  {200, 0x51b910caba0a637e},
      {240, 0xc74a756648761074},  {241, 0x8ba8e77b896a14d3},  {512, 0x9e10c7d9f771f1c0},
      {1024, 0x6deced11515f07af}, {1025, 0x8342fc0428ed1338}, {5000, 0xb174d2789827e26a}};
  const Digester digester =
      Digester::from_secret(HashKind::Xxh3, secret_of([](std::size_t i) { return i * 151 + 17; }));
  for (const auto& [length, digest] : vectors)
    EXPECT_EQ(digester(key_of(length, [](std::size_t i) { return i * 7; })), digest)
        << "length " << length;
}

TEST(Xxh3, DependsOnEveryPartOfTheSecret) {
  // Keys above 240 bytes are mixed with the secret from end to end.
  const std::string key(4096, 'x');
  const Digest plain = Digester::from_secret(HashKind::Xxh3, {})(key);
  for (std::size_t at = 0; at < Digester::secret_size; ++at) {
    Digester::Secret changed{};
    changed[at] = std::byte{1};
    EXPECT_NE(Digester::from_secret(HashKind::Xxh3, changed)(key), plain) << "byte " << at;
  }
}

TEST(Digester, GivesTheSameDigestsForASeedForEver) {
  const auto digest = [](HashKind kind, std::uint64_t seed) {
    return Digester::from_seed(kind, seed)("weir");
  };
  EXPECT_EQ(digest(HashKind::Xxh3, 42), 0x05ad0357205350e7);
  EXPECT_EQ(digest(HashKind::SipHash, 42), 0x34714f0d32ef2c6b);
}

TEST(Digester, GivesSingleDigestsInABatch) {
  const auto keys = varied_keys(1000);
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  for (const HashKind kind : both_hashes) {
    const Digester digester = Digester::from_seed(kind, 1);
    std::vector<Digest> batch(keys.size()), single;
    digester(views, batch);
    for (const std::string& key : keys) single.push_back(digester(key));
    EXPECT_EQ(batch, single);
  }
}

TEST(Digester, MakesDifferentSecretsOfNeighbouringSeedsAndAtRandom) {
  for (const HashKind kind : both_hashes) {
    EXPECT_NE(Digester::from_seed(kind, 1).secret(), Digester::from_seed(kind, 2).secret());
    EXPECT_NE(Digester::random(kind).secret(), Digester::random(kind).secret());
    const auto keys = varied_keys(1000);
    const Digester a = Digester::from_seed(kind, 1), b = Digester::from_seed(kind, 2);
    EXPECT_EQ(std::ranges::count_if(keys, [&](const auto& key) { return a(key) == b(key); }), 0);
  }
}

TEST(Digester, TellsKeysApartThatDifferInLengthOrNulBytesOnly) {
  for (const HashKind kind : both_hashes) {
    const Digester digester = Digester::from_seed(kind, 1);
    std::vector<Digest> digests;
    for (std::size_t length = 0; length < 600; ++length)
      digests.push_back(digester(std::string(length, '\0')));
    std::ranges::sort(digests);
    EXPECT_EQ(std::ranges::adjacent_find(digests), digests.end());
  }
}

TEST(Digester, ABatchIsItsSingleCallsForKeysOfAllLengths) {
  Draws draws(3);
  std::string text(400, '\0');
  for (char& c : text) c = static_cast<char>(draws.next());
  for (const HashKind hash : both_hashes) {
    const Digester digester = Digester::from_seed(hash, 11);
    for (int round = 0; round < 300; ++round) {
      std::vector<std::string_view> keys(draws.below(40));
      const std::uint64_t longest = 1 + draws.below(80);
      for (std::string_view& key : keys)
        key = std::string_view(text).substr(draws.below(200), draws.below(longest));
      std::vector<Digest> digests(keys.size());
      digester(keys, digests);
      for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(digests[i], digester(keys[i]));
    }
  }
}

}  // namespace
}  // namespace weir
