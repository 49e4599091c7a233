// Law 7, damage: whatever is not the file that was saved is refused with one sentence.
#include "snapshot_testing.hpp"

namespace weir::test {
namespace {

class SnapshotDamage : public EveryStructure {};
WEIR_FOR_EVERY_STRUCTURE(SnapshotDamage);

// Every byte is changed in two ways: one bit, and all bits.
std::string changed_byte_fault(Bytes& bytes, std::size_t at) {
  for (const std::byte change : {std::byte{1} << (at % 8), std::byte{0xff}}) {
    bytes[at] ^= change;
    const std::string fault = refusal_fault(bytes);
    bytes[at] ^= change;
    if (!fault.empty()) return fault;
  }
  return {};
}

TEST_P(SnapshotDamage, ASavedStructureLoadsAndGoesOnAsIfItHadNeverStopped) {
  for (const std::uint32_t shards : {1u, 3u}) {
    const StructurePtr original = make_used(info(), shards * 8192, shards);
    const Bytes bytes = snapshot_of(*original);
    EXPECT_EQ(bytes.size(), snapshot_bytes(*original));
    SnapshotInfo about;
    const StructurePtr copy = structure_of(bytes, &about);
    EXPECT_EQ(about.version, 1u);
    EXPECT_EQ(about.bytes, bytes.size());
    EXPECT_EQ(copy->parameters(), original->parameters());
    EXPECT_EQ(copy->shards(), original->shards());
    EXPECT_EQ(copy->seed(), original->seed());
    EXPECT_EQ(copy->digester().secret(), original->digester().secret());
    const auto stream = repeating_stream(5000, 1500, 9);
    EXPECT_EQ(drive(*copy, stream), drive(*original, stream));
    EXPECT_TRUE(std::ranges::equal(copy->payload(), original->payload()));
  }
}

TEST_P(SnapshotDamage, EveryTruncationIsRefused) {
  const Bytes bytes = snapshot_of(*make_used(info(), 8192));
  for (std::size_t n = 0; n < bytes.size(); ++n)
    ASSERT_EQ(refusal_fault(std::span(bytes).first(n)), "") << n << " of " << bytes.size();
}

TEST_P(SnapshotDamage, EveryChangeOfASingleByteIsRefused) {
  Bytes bytes = snapshot_of(*make_used(info(), 3 * 8192, 3));
  for (std::size_t at = 0; at < bytes.size(); ++at)
    ASSERT_EQ(changed_byte_fault(bytes, at), "") << "at byte " << at << " of " << bytes.size();
}

TEST_P(SnapshotDamage, AChangedByteInAnyBlockOfALargeStateIsRefused) {
  Bytes bytes = snapshot_of(*make_used(info(), 1 << 20));
  const Forgery parts(bytes);
  ASSERT_GT(parts.payload.size(), 3 * Forgery::block);
  const std::size_t header = parts.header.header_bytes;
  const std::size_t tail = bytes.size() - parts.registers.size() * 8 - 8;
  std::vector<std::size_t> offsets;
  for (std::size_t at = 0; at < header; ++at) offsets.push_back(at);
  for (std::size_t at = header; at < tail; at += 20011) offsets.push_back(at);
  for (std::size_t end = header; end < tail; end += Forgery::block + 8)  // and about block ends
    for (std::size_t at = std::max(end, header + 10) - 10; at < end + 2; ++at)
      offsets.push_back(at);
  for (std::size_t at = tail - 10; at < bytes.size(); ++at) offsets.push_back(at);
  for (const std::size_t at : offsets)
    ASSERT_EQ(changed_byte_fault(bytes, at), "") << "at byte " << at << " of " << bytes.size();
}

TEST_P(SnapshotDamage, TruncationsOfALargeStateAreRefused) {
  const Bytes bytes = snapshot_of(*make_used(info(), 1 << 20));
  for (std::size_t n = 0; n < bytes.size(); n += 4099)
    ASSERT_EQ(refusal_fault(std::span(bytes).first(n)), "") << n << " of " << bytes.size();
}

TEST_P(SnapshotDamage, SwappedBlocksAreRefused) {
  Bytes bytes = snapshot_of(*make_used(info(), 1 << 20));
  const Forgery parts(bytes);
  // Blocks of equal content would be the same file.
  if (std::equal(parts.payload.begin(), parts.payload.begin() + Forgery::block,
                 parts.payload.begin() + Forgery::block))
    return;
  const auto first = bytes.begin() + parts.header.header_bytes;
  std::swap_ranges(first, first + Forgery::block + 8, first + Forgery::block + 8);
  EXPECT_EQ(refusal_fault(bytes), "");
}

TEST_P(SnapshotDamage, AppendedBytesAreRefused) {
  Bytes bytes = snapshot_of(*make_used(info(), 8192));
  for (int i = 0; i < 300; ++i) {
    bytes.push_back(std::byte(i));
    ASSERT_EQ(refusal_fault(bytes), "") << i + 1 << " bytes more";
  }
}

TEST_P(SnapshotDamage, ASnapshotBehindAnotherIsRefused) {
  const Bytes one = snapshot_of(*make_used(info(), 8192));
  Bytes two = one;
  two.insert(two.end(), one.begin(), one.end());
  EXPECT_EQ(refusal_fault(two), "");
}

TEST(Snapshot, NoBytesAtAllAreRefused) { EXPECT_EQ(refusal_fault(Bytes{}), ""); }

TEST(Snapshot, ForeignBytesAreRefused) {
  for (const std::size_t size : {1u, 255u, 256u, 264u, 4096u, 600000u}) {
    Bytes bytes(size);
    EXPECT_EQ(refusal_fault(bytes), "") << size << " zeros";
    Draws draws(size);
    for (std::byte& byte : bytes) byte = std::byte(draws.next() & 0xff);
    EXPECT_EQ(refusal_fault(bytes), "") << size << " random bytes";
    std::memcpy(bytes.data(), "WEIRSNAP", std::min<std::size_t>(size, 8));
    EXPECT_EQ(refusal_fault(bytes), "") << size << " random bytes behind the magic";
  }
}

// A source may end before its stated size, as a file does that is cut while it is read.
TEST(Snapshot, ASourceThatEndsEarlyIsRefused) {
  class Shrinking final : public ByteSource {
   public:
    Shrinking(std::span<const std::byte> bytes, std::size_t there)
        : inner_(bytes.first(there)), claimed_(bytes.size()) {}
    void read(std::span<std::byte> bytes) override { inner_.read(bytes); }
    [[nodiscard]] std::uint64_t size() const override { return claimed_; }

   private:
    SpanSource inner_;
    std::uint64_t claimed_;
  };
  const Bytes bytes = snapshot_of(*make_used(*find_structure("bloom"), 8192));
  for (std::size_t there = 0; there < bytes.size(); ++there) {
    Shrinking source(bytes, there);
    ASSERT_EQ(refusal_fault([&] { read_snapshot(source); }), "") << there;
  }
}

}  // namespace
}  // namespace weir::test
