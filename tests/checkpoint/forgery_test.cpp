// Law 7, malice: files with correct checksums whose content lies. They are refused, or they are a
// valid structure of the forger's choice, which can be used without harm.

#include "snapshot_testing.hpp"

namespace weir::test {
namespace {

class SnapshotForgery : public EveryStructure {
 protected:
  void SetUp() override { original = snapshot_of(*make_used(info(), 2 * 8192, 2)); }
  // A copy of the small state to be changed.
  [[nodiscard]] Forgery forgery() const { return Forgery(original); }
  Bytes original;
};
WEIR_FOR_EVERY_STRUCTURE(SnapshotForgery);

constexpr std::uint64_t huge = ~std::uint64_t{0};

TEST_P(SnapshotForgery, TheForgerPutsTogetherWhatItTookApart) {
  EXPECT_EQ(forgery().sealed(), original);
  EXPECT_EQ(forgery().fit().sealed(), original);
  Bytes resealed = original;
  reseal(resealed);
  EXPECT_EQ(resealed, original);
}

// Changes one field of the header to each of the values; all must be refused.
template <class Field>
void expect_refused_values(const Forgery& good, Field Forgery::Header::*field, const char* name,
                           std::vector<std::uint64_t> values) {
  for (const std::uint64_t value : values) {
    Forgery forged = good;
    if (static_cast<Field>(value) == good.header.*field) continue;
    forged.header.*field = static_cast<Field>(value);
    EXPECT_EQ(refusal_fault(forged.sealed()), "") << name << " = " << value;
  }
}

TEST_P(SnapshotForgery, SizesThatContradictTheFileAreRefused) {
  using H = Forgery::Header;
  const Forgery good = forgery();
  const H& h = good.header;
  expect_refused_values(good, &H::total_bytes, "bytes in all",
                        {0, 1, h.total_bytes - 1, h.total_bytes + 1, h.total_bytes * 2, huge});
  expect_refused_values(
      good, &H::payload_bytes, "payload bytes",
      {0, 8, h.payload_bytes - 64, h.payload_bytes - 8, h.payload_bytes + 8, h.payload_bytes + 64,
       h.payload_bytes * 2, std::uint64_t{1} << 60, huge - 7, huge});
  expect_refused_values(good, &H::shards, "shards",
                        {0, 1, h.shards + 1, 64, 65536, 65537, 1u << 31, huge});
  expect_refused_values(good, &H::registers, "registers",
                        {0, h.registers - 1, h.registers + 1, 256, 257, 1u << 31, huge});
  expect_refused_values(
      good, &H::header_bytes, "header bytes",
      {0, 8, 256, 264, h.header_bytes - 8, h.header_bytes + 8, h.total_bytes, huge});
  expect_refused_values(
      good, &H::name_bytes, "length of the name",
      {0, h.name_bytes - 1u, h.name_bytes + 1u, h.name_bytes + 8u, 1024, 1025, huge});
  expect_refused_values(good, &H::parameter_bytes, "length of the parameters",
                        {0, h.parameter_bytes - 1u, h.parameter_bytes + 1u, h.parameter_bytes + 8u,
                         1024, 1025, huge});
}

// The same lies, and the file is made as long as they ask for.
TEST_P(SnapshotForgery, ContentThatContradictsTheParametersIsRefused) {
  for (const std::ptrdiff_t change : {-64, -8, -1, 1, 8, 64, 1 << 19}) {
    Forgery forged = forgery();
    forged.payload.resize(
        static_cast<std::size_t>(static_cast<std::ptrdiff_t>(forged.payload.size()) + change));
    EXPECT_EQ(refusal_fault(forged.fit().sealed()), "") << change << " bytes of payload";
  }
  for (const std::uint32_t registers : {0u, 1u, 200u, 256u, 257u}) {
    Forgery forged = forgery();
    if (registers == forged.header.registers) continue;
    forged.header.registers = registers;
    forged.registers.resize(std::size_t{registers} * forged.header.shards);
    EXPECT_EQ(refusal_fault(forged.fit().sealed()), "") << registers << " registers";
  }
  for (const std::uint32_t shards : {0u, 1u, 3u, 1000u, 65536u, 70000u}) {
    Forgery forged = forgery();
    if (shards == forged.header.shards) continue;
    forged.header.shards = shards;
    forged.registers.resize(std::size_t{shards} * forged.header.registers);
    EXPECT_EQ(refusal_fault(forged.fit().sealed()), "") << shards << " shards";
  }
  Forgery empty = forgery();
  empty.payload.clear();
  EXPECT_EQ(refusal_fault(empty.fit().sealed()), "");
}

TEST_P(SnapshotForgery, OtherVersionsAreRefusedAndNamed) {
  for (const std::uint32_t version : {0u, 2u, 3u, 0xffffffffu}) {
    Forgery forged = forgery();
    forged.header.version = version;
    try {
      structure_of(forged.sealed());
      ADD_FAILURE() << "version " << version << " was loaded";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::BadState);
      EXPECT_NE(std::string(error.what()).find("version " + std::to_string(version)),
                std::string::npos)
          << error.what();
    }
  }
}

TEST_P(SnapshotForgery, UnknownHashesReservedBytesAndPaddingAreRefused) {
  for (const int hash : {0, 3, 255}) {
    Forgery forged = forgery();
    forged.header.hash = static_cast<std::uint8_t>(hash);
    EXPECT_EQ(refusal_fault(forged.sealed()), "") << "hash " << hash;
  }
  for (const int i : {0, 1, 2}) {
    Forgery forged = forgery();
    forged.header.zero[i] = 1;
    EXPECT_EQ(refusal_fault(forged.sealed()), "") << "reserved byte " << i;
  }
  const Forgery good = forgery();
  const std::size_t text = 256 + good.name.size() + good.parameters.size();
  for (std::size_t at = text; at + 8 < good.header.header_bytes; ++at) {
    Bytes bytes = original;
    bytes[at] = std::byte{1};
    reseal(bytes);
    EXPECT_EQ(refusal_fault(bytes), "") << "padding at " << at;
  }
}

TEST_P(SnapshotForgery, StructureNamesThatDoNotExistAreRefused) {
  for (const std::string& name :
       {std::string(), std::string("nonsense"), std::string(info().name) + "x",
        std::string(info().name) + '\0', std::string(1, '\n'), std::string(1024, 'a'),
        std::string(2000, 'a'), std::string("../../etc/passwd"), std::string("\xff\xfe%s%n")}) {
    Forgery forged = forgery();
    forged.name = name;
    EXPECT_EQ(refusal_fault(forged.fit().sealed()), "") << "'" << name << "'";
  }
}

TEST_P(SnapshotForgery, TheNameOfAnotherStructureIsRefusedOrGivesAValidOne) {
  for (const StructureInfo* other : catalog()) {
    Forgery forged = forgery();
    forged.name = other->name;
    EXPECT_EQ(forgery_fault(forged.fit().sealed()), "") << other->name;
  }
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> items(1);
  for (const char c : text) {
    if (c == ',')
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}
std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return text;
}

TEST_P(SnapshotForgery, ParametersWithForgedValuesAreRefusedOrGiveAValidStructure) {
  const std::vector<std::string> items = split(forgery().parameters);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (const char* value : {"",
                              "0",
                              "1",
                              "2",
                              "3",
                              "7",
                              "31",
                              "64",
                              "255",
                              "256",
                              "4096",
                              "-1",
                              "0.5",
                              "1e9",
                              "nan",
                              "inf",
                              "1152921504606846976",
                              "281474976710656",
                              "281474976710657",
                              "18446744073709551615",
                              "18446744073709551616",
                              "99999999999999999999999",
                              "x",
                              "text",
                              "tables",
                              "conservative",
                              "recurring-minimum",
                              "8",
                              "16",
                              "=",
                              "1=1"}) {
      std::vector<std::string> changed = items;
      changed[i] = changed[i].substr(0, changed[i].find('=') + 1) + value;
      Forgery forged = forgery();
      forged.parameters = join(changed);
      EXPECT_EQ(forgery_fault(forged.fit().sealed()), "") << forged.parameters;
    }
}

TEST_P(SnapshotForgery, HugeAndImpossibleSizesAmongTheParametersAreRefused) {
  // The first parameter of every structure is its size.
  const std::vector<std::string> items = split(forgery().parameters);
  for (const char* value : {"0", "1152921504606846976", "281474976710656", "1000000000",
                            "18446744073709551615", "-1", "nan", ""}) {
    std::vector<std::string> changed = items;
    changed[0] = changed[0].substr(0, changed[0].find('=') + 1) + value;
    Forgery forged = forgery();
    forged.parameters = join(changed);
    EXPECT_EQ(refusal_fault(forged.fit().sealed()), "") << forged.parameters;
  }
}

TEST_P(SnapshotForgery, ParametersThatAreNotWrittenAsWeirWritesThemAreRefused) {
  const std::string good = forgery().parameters;
  std::vector<std::string> bad = {"",
                                  ",",
                                  good + ",",
                                  "," + good,
                                  good + ",colour=blue",
                                  good + "=",
                                  good + " ",
                                  good + "," + good,
                                  "colour=blue",
                                  good + "\n",
                                  std::string(2000, 'a')};
  std::vector<std::string> items = split(good);
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::vector<std::string> without = items;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    bad.push_back(join(without));
    std::vector<std::string> twice = items;
    twice.push_back(items[i]);
    bad.push_back(join(twice));
    std::vector<std::string> padded = items;
    padded[i].insert(padded[i].find('=') + 1, "0");
    bad.push_back(join(padded));
  }
  std::vector<std::string> turned(items.rbegin(), items.rend());
  if (turned != items) bad.push_back(join(turned));
  for (const std::string& text : bad) {
    Forgery forged = forgery();
    forged.parameters = text;
    EXPECT_EQ(refusal_fault(forged.fit().sealed()), "") << "'" << text << "'";
  }
}

TEST_P(SnapshotForgery, RegistersOfAnyValueAreRefusedOrGiveAValidStructure) {
  const Forgery good = forgery();
  for (std::size_t i = 0; i < good.registers.size(); ++i) {
    const std::uint64_t was = good.registers[i];
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, was + 1, was - 1, was * 2,
          std::uint64_t{512}, std::uint64_t{1} << 32, std::uint64_t{1} << 63, huge - 1, huge,
          mix(i, was), std::uint64_t{0x7ff8000000000000}, std::uint64_t{0x0000000000000001}}) {
      Forgery forged = good;
      forged.registers[i] = value;
      EXPECT_EQ(forgery_fault(forged.sealed()), "") << "register " << i << " = " << value;
    }
  }
}

TEST_P(SnapshotForgery, MoreRecordsSeenThanObservedAreRefused) {
  if (info().kind == Kind::Sample) return;  // has no verdicts
  const StructurePtr one_shard = make_used(info(), 8192);
  const Health health = one_shard->health();
  const Forgery good(*one_shard);
  ASSERT_NE(health.seen, 0u);
  int found = 0;
  for (std::size_t i = 0; i < good.registers.size(); ++i) {
    if (good.registers[i] != health.seen) continue;
    Forgery forged = good;
    forged.registers[i] = health.records + 1;
    found += refusal_fault(forged.sealed()).empty();
  }
  EXPECT_GE(found, 1);
}

TEST_P(SnapshotForgery, AllRegistersAtOnceAreRefusedOrGiveAValidStructure) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, huge}) {
    Forgery forged = forgery();
    std::ranges::fill(forged.registers, value);
    EXPECT_EQ(forgery_fault(forged.sealed()), "") << value;
    std::ranges::fill(forged.payload, std::byte{0xff});
    EXPECT_EQ(forgery_fault(forged.sealed()), "") << value << " over full cells";
    std::ranges::fill(forged.payload, std::byte{0});
    EXPECT_EQ(forgery_fault(forged.sealed()), "") << value << " over empty cells";
  }
  Draws draws(1);
  for (int round = 0; round < 200; ++round) {
    Forgery forged = forgery();
    for (std::uint64_t& value : forged.registers)
      if (draws.below(3) == 0) value = draws.next() >> draws.below(64);
    EXPECT_EQ(forgery_fault(forged.sealed()), "") << "round " << round;
  }
}

TEST_P(SnapshotForgery, ChangedCellsAreRefusedOrGiveAValidStructure) {
  const Forgery good = forgery();
  for (std::size_t at = 0; at < good.payload.size(); at += 7) {
    Forgery forged = good;
    forged.payload[at] ^= std::byte{1} << (at % 8);
    ASSERT_EQ(forgery_fault(forged.sealed()), "") << "cell byte " << at;
  }
  Draws draws(1);
  for (int round = 0; round < 100; ++round) {
    Forgery forged = good;
    for (std::byte& byte : forged.payload)
      if (draws.below(10) == 0) byte = std::byte(draws.next() & 0xff);
    ASSERT_EQ(forgery_fault(forged.sealed()), "") << "round " << round;
  }
}

TEST_P(SnapshotForgery, AnySeedSecretAndDateLoad) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1} << 63, huge}) {
    Forgery forged = forgery();
    forged.header.seed = value;
    forged.header.saved_at = static_cast<std::int64_t>(value);
    std::ranges::fill(forged.header.secret, std::byte(value & 0xff));
    SnapshotInfo about;
    const StructurePtr loaded = structure_of(forged.sealed(), &about);
    EXPECT_EQ(use_fault(*loaded), "");
    EXPECT_EQ(about.saved_at, static_cast<std::int64_t>(value));
  }
}

// Counts of cells that are not zero, by register: what follows from the cells is counted again.
struct CountRegister {
  const char* structure;
  std::size_t index;
};
class SnapshotCounts : public testing::TestWithParam<CountRegister> {};
INSTANTIATE_TEST_SUITE_P(
    Registers, SnapshotCounts,
    testing::Values(CountRegister{"bloom", 0}, CountRegister{"counting", 0},
                    CountRegister{"stable", 2}, CountRegister{"rsbf", 2}, CountRegister{"bsbf", 2},
                    CountRegister{"bsbfsd", 3}, CountRegister{"rlbsbf", 4}, CountRegister{"qht", 2},
                    CountRegister{"apbf", 7}, CountRegister{"a2", 2}, CountRegister{"ibf-2c", 2},
                    CountRegister{"ibf-mc", 2}, CountRegister{"ibf-h", 2},
                    CountRegister{"spectral", 0}, CountRegister{"count-min", 0},
                    CountRegister{"reservoir", 1}),
    [](const auto& test) { return test_name(*find_structure(test.param.structure)); });

TEST_P(SnapshotCounts, ACountOffByOneIsRefused) {
  const auto [structure, index] = GetParam();
  const StructurePtr small = make_used(*find_structure(structure), 8192);
  for (const int change : {-1, 1}) {
    Forgery forged(*small);
    ASSERT_NE(forged.registers.at(index), 0u);
    forged.registers[index] += static_cast<std::uint64_t>(change);
    EXPECT_EQ(refusal_fault(forged.sealed()), "") << change;
  }
}

// What keeps the FPR of a quotient hash table: no fingerprint twice, none behind an empty place.
TEST(SnapshotBuckets, AFingerprintTwiceOrBehindAnEmptyPlaceIsRefused) {
  const StructurePtr table = make_structure("qht:n=500,b=2,f=8", {.seed = 7});
  drive(*table, repeating_stream(700, 1000, 1));
  const Forgery good(*table);
  EXPECT_EQ(forgery_fault(good.sealed()), "");
  Forgery twice = good, behind = good;
  for (std::size_t i = 0; i < 1000; i += 2) {
    if (good.payload[i + 1] != std::byte{0})
      twice.payload[i + 1] = good.payload[i];
    else
      std::swap(behind.payload[i], behind.payload[i + 1]);
  }
  EXPECT_EQ(refusal_fault(twice.sealed()), "");
  EXPECT_EQ(refusal_fault(behind.sealed()), "");
}

// The index that finds rare marks is saved too. With forged counts a search would run astray.
TEST(SnapshotIndex, CountsThatAreNotThoseOfTheMarksAreRefused) {
  for (const char* spec : {"ibf-h:m=400000,K=1,P=1", "rsbf:M=3000000,k=1,pstar=0"}) {
    const StructurePtr sparse = make_structure(spec, {.seed = 7});
    drive(*sparse, repeating_stream(300, 1000, 1));
    const Forgery good(*sparse);
    EXPECT_EQ(forgery_fault(good.sealed()), "");
    const std::size_t index_bytes = good.payload.size() / 250;  // at least this much
    for (std::size_t back = 1; back < index_bytes; ++back) {
      Forgery forged = good;
      forged.payload[good.payload.size() - back] ^= std::byte{1};
      ASSERT_EQ(refusal_fault(forged.sealed()), "")
          << spec << ", " << back << " bytes from the end";
    }
  }
}

}  // namespace
}  // namespace weir::test
