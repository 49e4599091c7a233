#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <list>
#include <map>

#include "core/bits.hpp"
#include "measure.hpp"
#include "stream.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

class TraceFile {
 public:
  explicit TraceFile(const std::string& text)
      : path(std::filesystem::temp_directory_path() /
             ("weir-trace-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
              "-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
    std::ofstream(path) << text;
  }
  ~TraceFile() { std::filesystem::remove(path); }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  std::filesystem::path path;
};

TEST(LabTrace, NumbersKeysInTheOrderTheyCome) {
  const TraceFile file("b\na\nb\n\nc\na\n");
  const Trace trace = read_trace(file.path);
  EXPECT_EQ(trace.keys, (std::vector<std::uint32_t>{0, 1, 0, 2, 3, 1}));
  EXPECT_EQ(trace.distinct, 4u);
  const Recording recording = record(trace);
  EXPECT_EQ(recording.first, (std::vector<std::uint8_t>{1, 1, 0, 1, 1, 0}));
}

TEST(LabTrace, ReadsKeyAndWeightFromFields) {
  const TraceFile file("7\tx\t10\n8\tx\t20\n7\ty\t30");
  const Trace trace = read_trace(file.path, {.key_field = 2, .weight_field = 3});
  EXPECT_EQ(trace.keys, (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(trace.weights, (std::vector<std::uint32_t>{10, 20, 30}));
}

TEST(LabTrace, SaysInWhichLineSomethingIsWrong) {
  const TraceFile few("1\t2\n3\n"), word("1\t2\n3\tmany\n");
  for (const TraceFile* file : {&few, &word}) {
    try {
      read_trace(file->path, {.key_field = 1, .weight_field = 2});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(read_trace("/nowhere/at/all"), Error);
}

TEST(LabDistances, EachRepeatIsTheFirstOfItsKeyAndAtItsDistance) {
  DistanceStream stream({.distances = {1, 7, 500}, .share = 0.3}, 4);
  std::vector<std::uint64_t> keys(50'000);
  std::vector<std::uint32_t> which(keys.size());
  stream.fill_with_distances(keys, which);
  std::map<std::uint64_t, std::size_t> met;
  std::uint64_t times[3] = {};
  constexpr std::uint64_t distances[] = {1, 7, 500};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto [at, is_new] = met.emplace(keys[i], i);
    ASSERT_EQ(is_new, which[i] == DistanceStream::fresh);
    if (is_new) continue;
    ASSERT_EQ(i - at->second, distances[which[i]]);
    ++times[which[i]];
    at->second = ~std::size_t{0};  // a second repeat would be at an absurd distance
  }
  for (const std::uint64_t n : times) EXPECT_GT(n, 1000u);
}

TEST(LabStreams, AreTheSameForTheSameSeed) {
  std::vector<std::uint64_t> a(1000), b(1000), c(1000);
  uniform(5000, 1)->fill(a, {});
  uniform(5000, 1)->fill(b, {});
  uniform(5000, 2)->fill(c, {});
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(LabIdealLru, MissesWhatAPlainListMisses) {
  std::vector<std::uint64_t> keys(20'000);
  Draws draws(3);
  for (auto& key : keys) key = draws.below(draws.below(400) + 1);  // small numbers are popular
  Trace trace;
  for (const auto key : keys) trace.keys.push_back(static_cast<std::uint32_t>(key));
  trace.distinct = 400;
  const Recording recording = record(trace);
  for (const std::uint64_t size : {0u, 1u, 2u, 50u, 200u, 400u, 1000u}) {
    std::list<std::uint32_t> held;
    Rate plain;
    for (std::size_t i = 0; i < recording.keys.size(); ++i) {
      const auto at = std::find(held.begin(), held.end(), recording.keys[i]);
      if (recording.first[i] == 0) {
        plain.of += 1;
        plain.events += at == held.end() ? 1 : 0;
      }
      if (at != held.end()) held.erase(at);
      held.push_front(recording.keys[i]);
      if (held.size() > size) held.pop_back();
    }
    const Rate fast = ideal_lru(recording, size);
    EXPECT_EQ(fast.events, plain.events) << size;
    EXPECT_EQ(fast.of, plain.of);
  }
}

}  // namespace
}  // namespace weir::lab
