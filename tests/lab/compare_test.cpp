// The comparison is fair: equal bits, an FPR that is really kept, the same streams for all.
#include "compare.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unordered_map>

#include "experiment.hpp"
#include "runner.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

Setting small(const std::string& stream) {
  Setting setting;
  setting.streams = {stream};
  setting.records = 40'000;
  setting.repeat = 2;
  setting.bits_a_key = {2, 6};
  setting.fprs = {0.01};
  return setting;
}

TEST(LabCompare, TheFloorIsThatOfInformation) {
  EXPECT_NEAR(floor_bits(0, 1.0 / 1024), 10, 1e-12);
  EXPECT_EQ(floor_bits(0.995, 0.01), 0);  // guessing does it
  EXPECT_NEAR(floor_bits(0.5, 0.25), 0.5 * 1 + 0.5 * std::log2(0.5 / 0.75), 1e-12);
  for (const double fpr : {0.1, 0.001})
    for (const double fnr : {0.001, 0.3, 0.8})
      EXPECT_NEAR(floor_fnr(floor_bits(fnr, fpr), fpr), fnr, 1e-9);
  EXPECT_EQ(floor_fnr(10, 0.001), 0);
}

TEST(LabCompare, AFineStepIsAParameter) {
  for (const StructureInfo* info : catalog()) {
    if (info->fine == nullptr) continue;
    bool known = false;
    for (const ParameterInfo& parameter : info->parameters)
      known = known || std::string(parameter.name) == info->fine;
    EXPECT_TRUE(known) << info->name;
  }
}

TEST(LabCompare, AnyStreamBecomesNumberedKeysWithTheirAnswer) {
  std::vector<std::uint64_t> keys(30'000);
  const std::string spec = "uniform:U=1e15,importance=uniform";
  make_stream("bursts:U=1e15,length=3,open=9", 4)->fill(keys, {});
  const Recording r = record(*make_stream("bursts:U=1e15,length=3,open=9", 4), keys.size());
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto [at, is_new] = numbers.emplace(keys[i], static_cast<std::uint32_t>(numbers.size()));
    ASSERT_EQ(r.keys[i], at->second);
    ASSERT_EQ(r.first[i], is_new ? 1 : 0);
  }
  EXPECT_EQ(r.distinct, numbers.size());
  EXPECT_TRUE(r.weights.empty());
  EXPECT_EQ(record(*make_stream(spec, 4), 5000).weights.size(), 5000u);
}

TEST(LabCompare, RecordingsAreMadeOnce) {
  std::atomic<int> made = 0;
  SharedRecordings shared([&] {
    ++made;
    return std::vector<Recording>(2);
  });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_EQ(shared.get().size(), 2u); });
  }
  EXPECT_EQ(made, 1);
}

TEST(LabCompare, EveryFilterKeepsTheFprInTheBitsOrSaysThatItCannot) {
  const Setting setting = small("zipf:U=20000,s=0.7");
  const Experiment& compare = find_experiment("compare");
  const Results results = run_parts(compare, setting, {.threads = 2});
  ASSERT_EQ(results.rows().size(), 1u);
  const std::string row = results.rows()[0];
  EXPECT_EQ(row, "zipf:U=20000,s=0.7, FPR at most 1 %");
  ASSERT_GE(results.series(row).size(), 12u);
  unsigned kept = 0;
  for (const std::string& spec : results.series(row))
    for (const double bits : {2.0, 6.0}) {
      const Mean fnr = results.mean(row, spec, "fnr", bits);
      EXPECT_EQ(fnr.seeds, results.mean(row, spec, "cannot", bits).seeds == 1 ? 0u : 2u) << spec;
      if (fnr.seeds == 0 || spec == "ideal LRU") continue;
      ++kept;
      EXPECT_LE(results.mean(row, spec, "fpr", bits).value, 0.01) << spec;
      EXPECT_LE(results.mean(row, spec, "bits a key", bits).value, bits) << spec;
      EXPECT_GE(results.mean(row, spec, "bits a key", bits).value, 0.9 * bits) << spec;
      EXPECT_GE(fnr.value, results.mean(row, "weir", "fnr", bits).value) << spec;
    }
  EXPECT_GE(kept, 12u);

  const Section section = compare.present(setting, results);
  ASSERT_EQ(section.tables.size(), 1u);
  ASSERT_EQ(section.charts.size(), 1u);
  EXPECT_EQ(section.tables[0].rows.size(), 2 * results.series(row).size());
  EXPECT_EQ(section.tables[0].rows[1][1], "weir");
  EXPECT_EQ(section.charts[0].name, "compare-zipf-U-20000-s-0.7-FPR-at-most-1");
  EXPECT_EQ(section.charts[0].lines.back().name, "floor");
}

TEST(LabCompare, GivesTheSameOnAnyNumberOfThreads) {
  Setting setting = small("geometric:mean=2000,again=0.4");
  setting.filters = {"weir", "stable", "bloom"};
  const auto rates = [&](unsigned threads) {
    Results results = run_parts(find_experiment("compare"), setting, {.threads = threads});
    std::erase_if(results.all, [](const Measurement& m) { return m.what == "ns"; });
    std::string text;
    for (const Measurement& m : results.all)
      text += m.series + " " + m.parameters + " " + m.what + " " + std::to_string(m.value) + "\n";
    return text;
  };
  EXPECT_EQ(rates(1), rates(3));
}

TEST(LabCompare, FiltersOfImportanceAreAskedWhereThereIsSome) {
  const auto asks_for = [](const Setting& setting, const std::string& name) {
    for (const Part& part : find_experiment("compare").parts(setting))
      if (part.name.ends_with(", " + name)) return true;
    return false;
  };
  EXPECT_FALSE(asks_for(small("uniform:U=20000"), "ibf-h"));
  EXPECT_TRUE(asks_for(small("uniform:U=20000"), "weir"));
  EXPECT_TRUE(asks_for(small("uniform:U=20000,importance=inverse"), "ibf-h"));
}

TEST(LabCompare, ReadsATraceWithFields) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("weir-compare-" + std::to_string(::getpid()) + ".tsv");
  {
    std::ofstream out(path);
    for (int i = 0; i < 30'000; ++i) out << i * i % 9973 << '\t' << i % 5 << '\n';
  }
  Setting setting = small("trace:file=" + path.string() + ",key=1,weight=2");
  setting.fprs = {0.1};
  setting.filters = {"weir"};
  const Results results = run_parts(find_experiment("compare"), setting, {.threads = 2});
  EXPECT_EQ(results.mean(results.rows()[0], "weir", "fnr", 6).seeds, 2u);
  setting.streams.clear();
  setting.traces = {path.string()};
  EXPECT_EQ(run_parts(find_experiment("compare"), setting, {.threads = 2}).rows()[0],
            path.filename().string() + ", FPR at most 10 %");
  std::filesystem::remove(path);
  EXPECT_THROW(find_experiment("compare").parts(setting), Error);
}

TEST(LabCompare, RefusesWhatMeansNothing) {
  const auto refused = [](const std::function<void(Setting&)>& change) {
    Setting setting = small("uniform:U=20000");
    setting.filters = {"weir"};
    change(setting);
    try {
      run_parts(find_experiment("compare"), setting, {.threads = 1});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Config);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused([](Setting&) {}), "");
  EXPECT_NE(refused([](Setting& s) { s.records = 500; }).find("at least 1000"), std::string::npos);
  EXPECT_NE(refused([](Setting& s) { s.fprs = {0}; }).find("above 0"), std::string::npos);
  EXPECT_NE(refused([](Setting& s) { s.bits_a_key = {-1}; }).find("between"), std::string::npos);
  EXPECT_NE(refused([](Setting& s) { s.streams = {"zpif:U=3"}; }).find("zipf"), std::string::npos);
  EXPECT_NE(refused([](Setting& s) { s.filters = {"wier"}; }).find("wier"), std::string::npos);
}

}  // namespace
}  // namespace weir::lab
