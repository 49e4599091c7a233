// The same input, seed and options give the same bytes for every number of threads, every chunk
// size and every kernel.
#include "core/bits.hpp"
#include "core/kernel.hpp"
#include "pipeline/dedup_testing.hpp"
#include "sanitized.hpp"

namespace weir {
namespace {

// Lines of all lengths, some empty, some longer than small chunks, a third of them repeats.
std::string some_lines(std::uint64_t seed, std::size_t count) {
  Draws draws(seed);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t key = draws.below(count / 2);
    text += std::to_string(key);
    text.append(mix(key, 3) % 97 == 0 ? 700 : mix(key, 2) % 60, static_cast<char>('a' + key % 26));
    text += '\n';
    if (key % 50 == 0) text += '\n';
  }
  return text;
}

std::string some_rows(std::uint64_t seed, std::size_t count) {
  Draws draws(seed);
  std::string text = "id,text,number\r\n";
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t key = draws.below(count / 2);
    text += std::to_string(i) + ",\"say \"\"" + std::to_string(key) + "\"\",\n and more\"," +
            std::to_string(key % 9);
    if (key % 31 == 0) text += ",\"";  // never closed, or closed by a later one
    text += key % 2 == 0 ? "\r\n" : "\n";
  }
  return text;
}

struct Case {
  const char* name;
  void (*set)(DedupOptions&);
};

class SameInSameOut : public DedupTest, public ::testing::WithParamInterface<Case> {};

TEST_P(SameInSameOut, ForEveryNumberOfThreadsChunkSizeAndKernel) {
  const std::string first = write("first", some_lines(1, 1200));
  const std::string second = write("second", some_lines(2, 400) + "no newline");
  const std::string rows = write("rows", some_rows(3, 1500));
  DedupOptions base;
  base.inputs = {first, second, first};
  base.repeats_file = path("repeats");
  GetParam().set(base);
  if (base.format.kind == Records::Csv) base.inputs = {rows};
  const bool sketch = base.emit == Emit::Count;
  const bool weighted = !base.key.importance.empty();

  for (const StructureInfo* info : catalog()) {
    if (info->kind != (sketch ? Kind::Sketch : Kind::Filter)) continue;
    if (weighted && !info->weighted) continue;
    for (const std::uint32_t shards : {1u, 5u}) {
      // So small that filters err and forget: their errors must be the same too.
      Request request{.memory = 24 << 10, .shards = shards, .seed = 7};
      std::string expected, expected_repeats;
      DedupStats expected_stats;
      for (const unsigned threads : {1u, 2u, 3u, 8u})
        for (const std::uint64_t chunk : {256 << 10, 64, 1000})
          for (const Kernel kernel : {Kernel::Auto, Kernel::Scalar, Kernel::Avx2, Kernel::Avx512}) {
            if (!cpu_has(kernel)) continue;
            // Kernels differ in the filter only; the other ways are tried with the default one.
            if (kernel != Kernel::Auto && (threads != 2 || chunk != 1000)) continue;
            if (test::sanitized && (threads > 3 || (threads == 1 && chunk != 256 << 10))) continue;
            request.kernel = kernel;
            const StructurePtr structure = make_structure(info->name, request);
            DedupOptions options = base;
            options.threads = threads;
            options.chunk_bytes = chunk;
            DedupStats stats;
            const std::string output = run(*structure, options, &stats);
            const std::string repeats = read("repeats");
            if (expected.empty()) {
              expected = output, expected_repeats = repeats, expected_stats = stats;
              ASSERT_FALSE(expected.empty());
              continue;
            }
            const std::string where = std::string(info->name) + ", " + std::to_string(shards) +
                                      " shards, " + std::to_string(threads) +
                                      " threads, chunks of " + std::to_string(chunk);
            ASSERT_TRUE(output == expected) << where;
            ASSERT_TRUE(repeats == expected_repeats) << where;
            EXPECT_EQ(stats.records, expected_stats.records) << where;
            EXPECT_EQ(stats.first, expected_stats.first) << where;
            EXPECT_EQ(stats.bad, expected_stats.bad) << where;
            EXPECT_EQ(stats.bytes, expected_stats.bytes) << where;
          }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, SameInSameOut,
    ::testing::Values(Case{"lines", [](DedupOptions&) {}},
                      Case{"mark", [](DedupOptions& o) { o.emit = Emit::Mark; }},
                      Case{"repeats", [](DedupOptions& o) { o.emit = Emit::Repeats; }},
                      Case{"counts", [](DedupOptions& o) { o.emit = Emit::Count; }},
                      Case{"too_long", [](DedupOptions& o) { o.max_record = 300; }},
                      Case{"fixed",
                           [](DedupOptions& o) {
                             o.format.kind = Records::Fixed;
                             o.format.width = 11;
                           }},
                      Case{"csv",
                           [](DedupOptions& o) {
                             o.format.kind = Records::Csv;
                             o.key.columns = {"text"};
                           }},
                      Case{"csv_without_the_broken",
                           [](DedupOptions& o) {
                             o.format.kind = Records::Csv;
                             o.key.columns = {"number", "text"};
                             o.on_bad = OnBad::Drop;
                           }},
                      Case{"importance",
                           [](DedupOptions& o) {
                             o.format.kind = Records::Csv;
                             o.key.columns = {"text"};
                             o.key.importance = "number";
                           }}),
    [](const auto& way) { return std::string(way.param.name); });

TEST_F(DedupTest, EndsAtTheSameRecordForEveryNumberOfThreads) {
  const std::string input = write("input", some_lines(4, 20000));
  std::string expected;
  for (const unsigned threads : {1u, 2u, 5u})
    for (const std::uint64_t chunk : {256 << 10, 64, 5000}) {
      const FilterPtr filter = make_filter("bloom", {.memory = 8 << 10, .seed = 1});
      DedupOptions options;
      options.inputs = {input};
      options.threads = threads;
      options.chunk_bytes = chunk;
      options.max_fpr = 0.02;
      DedupStats stats;
      const std::string output = run(*filter, options, &stats);
      EXPECT_TRUE(stats.over_max_fpr);
      EXPECT_LT(stats.records, 20000u);
      if (expected.empty()) expected = output;
      EXPECT_TRUE(output == expected) << threads << " threads, chunks of " << chunk;
    }
}

TEST_F(DedupTest, ABadRecordEndsTheRunBehindTheSameRecord) {
  std::string text = some_lines(5, 3000);
  text.insert(text.find('\n', text.size() / 2) + 1, std::string(2000, 'x') + "\n");
  const std::string input = write("input", text);
  std::string expected;
  for (const unsigned threads : {1u, 2u, 5u})
    for (const std::uint64_t chunk : {256 << 10, 64, 5000}) {
      const FilterPtr filter = make_filter("blocked-bloom", {.memory = 64 << 10, .seed = 1});
      DedupOptions options;
      options.inputs = {input};
      options.output = path("output");
      options.threads = threads;
      options.chunk_bytes = chunk;
      options.max_record = 1000;
      options.on_bad = OnBad::Fail;
      try {
        dedup(*filter, options);
        FAIL() << "the run must end with an error";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::BadInput);
        EXPECT_NE(std::string(error.what()).find("longer than --max-record"), std::string::npos);
      }
      const std::string output = read("output");
      if (expected.empty()) expected = output;
      EXPECT_FALSE(expected.empty());
      EXPECT_TRUE(output == expected) << threads << " threads, chunks of " << chunk;
    }
}

}  // namespace
}  // namespace weir
