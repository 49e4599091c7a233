// State files written once, which every later version must load and go on from. See README.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/snapshot_testing.hpp"
#include "weir/snapshot.hpp"

namespace weir::test {
namespace {

namespace fs = std::filesystem;

const fs::path folder = WEIR_SOURCE_DIR "/tests/golden";
const fs::path facts_file = folder / "facts.txt";

// What is written down about a golden file when it is made.
struct Facts {
  std::uint64_t records = 0, seen = 0;
  std::uint64_t next_answers = 0;  // checksum of the answers to the next 1000 records
  bool operator==(const Facts&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Facts& facts) {
  return out << facts.records << ' ' << facts.seen << ' ' << facts.next_answers;
}

using FactsByFile = std::map<std::string, Facts>;  // facts.txt, a line each

FactsByFile read_facts() {
  FactsByFile all;
  std::ifstream in(facts_file);
  std::string file;
  for (Facts f; in >> file >> f.records >> f.seen >> f.next_answers;) all[file] = f;
  return all;
}
void write_facts(const FactsByFile& all) {
  std::ofstream out(facts_file);
  for (const auto& [file, facts] : all) out << file << ' ' << facts << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + facts_file.string());
}

// Keys, not digests, so that the saved secret takes part.
std::vector<Digest> records_of(const Structure& structure, std::size_t count, std::uint64_t seed) {
  Draws draws(seed);
  std::vector<Digest> digests;
  for (std::size_t i = 0; i < count; ++i)
    digests.push_back(structure.digest("key " + std::to_string(draws.below(30'000))));
  return digests;
}

Facts facts_of(Structure& structure) {
  const Health health = structure.health();
  std::uint64_t checksum = 0xcbf29ce484222325;  // FNV-1a
  for (const std::uint64_t answer : drive(structure, records_of(structure, 1000, 2)))
    checksum = (checksum ^ answer) * 0x100000001b3;
  return {health.records, health.seen, checksum};
}

std::string golden_name(const std::string& structure, std::uint32_t version) {
  return structure + ".v" + std::to_string(version) + ".weir";
}

std::uint32_t current_version() {
  SnapshotInfo info;
  structure_of(snapshot_of(*make_structure("bloom:m=64,k=1")), &info);
  return info.version;
}

// Empty when there is a golden file in the current format, otherwise what to do.
std::string missing_golden(const std::string& structure) {
  const std::string file = golden_name(structure, current_version());
  if (fs::exists(folder / file) && read_facts().contains(file)) return {};
  return structure + " has no golden file " + file +
         "; make it with `WEIR_WRITE_GOLDEN=1 weir-tests --gtest_filter='*Golden*'` and commit "
         "tests/golden";
}

// Writes what is missing, never what is there.
void write_golden(const StructureInfo& info) {
  const StructurePtr made = make_structure(
      info.name, {.memory = 16 << 10, .fpr = 0.05, .shards = shards_for(info, 2), .seed = 2026});
  drive(*made, records_of(*made, 20'000, 1));
  const std::string file = golden_name(info.name, current_version());
  save(*made, folder / file);
  FactsByFile facts = read_facts();
  facts[file] = facts_of(*made);
  write_facts(facts);
}

class Golden : public EveryStructure {};

TEST_P(Golden, ExistsInTheCurrentFormat) {
  if (std::getenv("WEIR_WRITE_GOLDEN") != nullptr && !missing_golden(info().name).empty())
    write_golden(info());
  EXPECT_EQ(missing_golden(info().name), "");
}
WEIR_FOR_EVERY_STRUCTURE(Golden);

TEST(GoldenFiles, LoadAndGoOnAsWhenTheyWereWritten) {
  const FactsByFile facts = read_facts();
  std::size_t loaded = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".weir") continue;
    const std::string file = entry.path().filename();
    SCOPED_TRACE(file);
    ASSERT_TRUE(facts.contains(file));
    SnapshotInfo info;
    const StructurePtr structure = load(entry.path(), &info);
    EXPECT_EQ(golden_name(structure->info().name, info.version), file);
    EXPECT_EQ(facts_of(*structure), facts.at(file));
    ++loaded;
  }
  EXPECT_EQ(loaded, facts.size()) << "a golden file was removed";
}

TEST(GoldenFiles, AreDemandedOfANewStructureWithTheWayToMakeThem) {
  EXPECT_NE(missing_golden("brand-new").find("WEIR_WRITE_GOLDEN=1"), std::string::npos);
}

}  // namespace
}  // namespace weir::test
