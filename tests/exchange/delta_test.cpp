// Signature, delta and patch: the new file comes back, and nothing else does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "delta_testing.hpp"
#include "exchange/block_size.hpp"
#include "weir/error.hpp"

namespace weir::test {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Delta, GivesTheNewFileBackAfterAnyEdits) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 150; ++round) {
    const int letters = round % 3 == 0 ? 2 : 256;
    const Bytes old = random_bytes(random, random() % 20'000, letters);
    const Bytes fresh = edited(random, old, static_cast<int>(random() % 6));
    SignatureOptions options;
    options.block = static_cast<std::uint32_t>(round % 4 == 0 ? 0 : 1 + random() % 600);
    options.rolling = random() % 2 == 0 ? RollingSum::RabinKarp : RollingSum::Rollsum;
    options.hash = random() % 2 == 0 ? StrongSum::Blake2 : StrongSum::Md4;
    options.rdiff = random() % 2 == 0;
    const Bytes delta = delta_of(signature_of(old, options), fresh, {.rdiff = random() % 2 == 0});
    EXPECT_EQ(patched(old, delta), fresh) << "round " << round;
    EXPECT_EQ(patched(old, delta, 1 + random() % 50), fresh) << "in small pieces, round " << round;
  }
}

TEST(Delta, SendsWhatIsNewAndLittleMore) {
  std::mt19937_64 random(2);
  const Bytes old = random_bytes(random, 1'000'000);
  Bytes fresh = old;
  const Bytes more = random_bytes(random, 100);
  fresh.insert(fresh.begin() + 500'000, more.begin(), more.end());
  DeltaStats stats;
  const Bytes delta = delta_of(signature_of(old), fresh, {}, &stats);
  EXPECT_EQ(stats.copied + stats.literal, fresh.size());
  EXPECT_LE(stats.literal, 100 + block_for(old.size()));
  EXPECT_EQ(stats.bytes_written, delta.size());
  EXPECT_LT(delta.size(), stats.literal + 250);
}

TEST(Delta, KnowsEmptyFiles) {
  std::mt19937_64 random(3);
  const Bytes some = random_bytes(random, 5000), none;
  for (const auto& [old, fresh] : {std::pair(none, none), {none, some}, {some, none}})
    EXPECT_EQ(patched(old, delta_of(signature_of(old), fresh)), fresh);
}

TEST(Delta, IsRefusedForAnotherOldFile) {
  std::mt19937_64 random(4);
  const Bytes old = random_bytes(random, 5000), fresh = edited(random, old, 3);
  const Bytes delta = delta_of(signature_of(old), fresh);
  Bytes longer = old, other = old;
  longer.push_back(std::byte{1});
  other[2500] ^= std::byte{1};
  EXPECT_THAT(refusal([&] { patched(longer, delta); }), HasSubstr("it has 5001 bytes, not 5000"));
  EXPECT_THAT(refusal([&] { patched(other, delta); }), HasSubstr("its contents differ"));
}

TEST(Delta, IsRefusedWithAnyByteChangedOrMissing) {
  std::mt19937_64 random(5);
  const Bytes old = random_bytes(random, 3000), fresh = edited(random, old, 2);
  const Bytes whole = delta_of(signature_of(old), fresh);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      Bytes damaged = whole;
      damaged[i] ^= std::byte{1} << bit;
      EXPECT_NE(refusal([&] { patched(old, damaged); }), "accepted") << "byte " << i;
    }
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(refusal([&] { patched(old, cut); }), "accepted") << "cut at " << i;
  }
  Bytes longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_NE(refusal([&] { patched(old, longer); }), "accepted");
}

TEST(Signature, IsRefusedWithAnyByteChangedOrMissing) {
  std::mt19937_64 random(6);
  const Bytes whole = signature_of(random_bytes(random, 3000));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Bytes damaged = whole;
    damaged[i] ^= std::byte{4};
    EXPECT_NE(refusal([&] { Signature::read(reading(damaged)); }), "accepted") << "byte " << i;
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(refusal([&] { Signature::read(reading(cut)); }), "accepted") << "cut at " << i;
  }
}

// A plain signature has no checksum: what it says of itself must make sense.
TEST(Signature, OfRdiffIsNotBelievedWithAbsurdLengths) {
  std::mt19937_64 random(7);
  const Bytes plain = signature_of(random_bytes(random, 3000), {.rdiff = true});
  const auto with = [&](std::size_t at, std::uint32_t number) {
    Bytes forged = plain;
    for (int i = 0; i < 4; ++i) forged[at + i] = std::byte(number >> (24 - 8 * i));
    return refusal([&] { Signature::read(reading(forged)); });
  };
  EXPECT_THAT(with(4, 0), HasSubstr("blocks of 0 bytes"));
  EXPECT_THAT(with(4, UINT32_MAX), HasSubstr("blocks of 4294967295 bytes"));
  EXPECT_THAT(with(8, 0), HasSubstr("strong sums of 0 bytes"));
  EXPECT_THAT(with(8, 33), HasSubstr("strong sums of 33 bytes"));
  EXPECT_THAT(with(8, 31), HasSubstr("it ends early"));
}

// Many different blocks under one weak sum would make the search take the square of their number.
TEST(Signature, WithOneWeakSumForAllIsRefused) {
  Bytes forged = signature_of({}, {.rdiff = true});
  std::mt19937_64 random(8);
  for (int i = 0; i < 5000; ++i) {
    forged.insert(forged.end(), 4, std::byte{7});
    const Bytes strong = random_bytes(random, full_strong);
    forged.insert(forged.end(), strong.begin(), strong.end());
  }
  EXPECT_THAT(refusal([&] { Signature::read(reading(forged)); }), HasSubstr("all alike"));
}

TEST(Signature, OfEqualBlocksIsNotSuspicious) {
  const Bytes zeros(3'000'000), more(3'000'500);
  EXPECT_EQ(patched(zeros, delta_of(signature_of(zeros, {.block = 256}), more)), more);
}

// With sums of one byte and small blocks, different blocks agree by chance.
TEST(Delta, OfBlocksThatAgreeByChanceIsRefused) {
  std::mt19937_64 random(9);
  SignatureOptions options;
  options.block = 4, options.strong = 1, options.rolling = RollingSum::Rollsum;
  const Bytes old = random_bytes(random, 400'000), fresh = random_bytes(random, 400'000);
  const Bytes delta = delta_of(signature_of(old, options), fresh);
  EXPECT_THAT(refusal([&] { patched(old, delta); }), HasSubstr("longer --strong"));
}

TEST(BlockSize, IsTheRootOfTheSizeWithinLimits) {
  EXPECT_EQ(block_for(0), 2048U);
  EXPECT_EQ(block_for(1), 256U);
  EXPECT_EQ(block_for(1'000'000), 1000U);
  EXPECT_EQ(block_for(std::uint64_t{1} << 50), 128U << 10);
}

// The bound itself: random blocks, sums cut to so few bits that agreement can be counted.
TEST(BlockSize, BoundsTheChanceOfAFalseMatch) {
  for (const std::uint64_t size : {1'000ULL, 1'000'000ULL, 1'000'000'000'000ULL})
    for (const int safety : {safety_of_sync, safety_of_files}) {
      const std::uint32_t block = block_for(size), strong = strong_for(size, block, safety);
      EXPECT_LE(log2_false_match(size, block, strong), -safety);
      if (strong > 1) {
        EXPECT_GT(log2_false_match(size, block, strong - 1), -safety);
      }
    }
}

}  // namespace
}  // namespace weir::test
