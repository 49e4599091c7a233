// Streams show the law they are named after, for every cut into batches.
#include <gtest/gtest.h>

#include <unistd.h>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <unordered_map>

#include "plan/stream_text.hpp"
#include "stream.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

struct Drawn {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> weights;
};
Drawn draw(const std::string& spec, std::size_t records, std::uint64_t seed = 1,
           std::size_t batch = 1000) {
  const auto stream = make_stream(spec, seed, records);
  Drawn drawn{std::vector<std::uint64_t>(records), std::vector<std::uint32_t>(records)};
  for (std::size_t at = 0; at < records; at += batch) {
    const std::size_t n = std::min(batch, records - at);
    EXPECT_EQ(
        stream->fill(std::span(drawn.keys).subspan(at, n), std::span(drawn.weights).subspan(at, n)),
        n);
  }
  return drawn;
}

// Three standard errors of a share.
double three_errors(double share, double of) { return 3 * std::sqrt(share * (1 - share) / of); }

// The distances from each repeat to the last occurrence of its key.
std::vector<double> distances(const std::vector<std::uint64_t>& keys) {
  std::unordered_map<std::uint64_t, std::size_t> last;
  std::vector<double> found;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto [at, is_new] = last.emplace(keys[i], i);
    if (!is_new) found.push_back(static_cast<double>(i - at->second));
    at->second = i;
  }
  return found;
}

std::string refusal(const std::string& spec) {
  try {
    make_stream(spec, 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Config) << error.what();
    return error.what();
  }
  return "";
}

TEST(LabLaws, EveryExampleGivesTheSameForEveryCutAndAnotherForAnotherSeed) {
  for (const StreamLaw& law : stream_laws()) {
    if (std::string(law.name) == "trace") continue;
    for (const char* importance : {"", ",importance=uniform"}) {
      const std::string spec = std::string(law.example) + importance;
      const Drawn one = draw(spec, 140'000, 1, 140'000), cut = draw(spec, 140'000, 1, 777);
      EXPECT_EQ(one.keys, cut.keys) << spec;
      EXPECT_EQ(one.weights, cut.weights) << spec;
      EXPECT_NE(one.keys, draw(spec, 140'000, 2).keys) << spec;
      const std::uint64_t bound = make_stream(spec, 1)->bound(140'000);
      ASSERT_NE(bound, 0u) << spec;
      for (const std::uint64_t key : one.keys) ASSERT_LT(key, bound) << spec;
    }
  }
}

TEST(LabLaws, APlanForTheSameTextIsForTheSameStream) {
  for (const char* text :
       {"uniform:U=1e5", "zipf:U=1e5,s=0.8", "zipf:U=1e5,s=1.3", "fixed:d=5000,again=0.3",
        "geometric:mean=5000,again=0.5", "pareto:least=100,shape=1.1,again=0.3"}) {
    constexpr std::size_t records = 300'000;
    StreamModel model = parse_stream(text);
    model.records = records;
    const std::vector<std::uint64_t> keys = draw(text, records).keys;
    const auto distinct =
        static_cast<double>(std::set<std::uint64_t>(keys.begin(), keys.end()).size());
    // A count of repeats, nearly independent.
    const double expected = distinct_share(model);
    EXPECT_NEAR(distinct / records, expected,
                std::max(0.01 * expected, three_errors(expected, records)))
        << text;
  }
}

TEST(LabLaws, AShareOfDistinctRecordsGivesThePapersUniverses) {
  EXPECT_EQ(universe_of_share(0.76, 100'000), 173'463u);
  EXPECT_EQ(universe_of_share(0.49, 10'000'000), 6'067'397u);
  EXPECT_EQ(universe_of_share(0.15, 695'000'000), 104'383'984u);
  EXPECT_EQ(universe_of_share(0.10, 1'000'000'000), 100'004'542u);
  EXPECT_EQ(make_stream("uniform:share=0.76", 1, 100'000)->universe(), 173'463u);
  EXPECT_EQ(make_stream("uniform:share=0.76,N=1e5", 1, 5)->universe(), 173'463u);
}

TEST(LabLaws, ZipfRanksComeAsOftenAsTheyShould) {
  constexpr std::size_t records = 400'000, ranks = 1000;
  for (const double s : {0.0, 0.5, 0.99, 1.0, 1.000001, 2.0, 7.0}) {
    const std::string spec = "zipf:U=1000,s=" + std::to_string(s);
    std::vector<double> seen(ranks), expected(ranks);
    for (const std::uint64_t key : draw(spec, records).keys) seen[key] += 1;
    double sum = 0, chi = 0, classes = -1, e = 0, o = 0;
    for (std::size_t i = 0; i < ranks; ++i)
      sum += expected[i] = std::pow(static_cast<double>(i + 1), -s);
    for (std::size_t i = 0; i < ranks; ++i) {
      e += expected[i] / sum * records, o += seen[i];
      if (e < 20 && i + 1 < ranks) continue;  // rare ranks are counted together
      chi += (o - e) * (o - e) / e, classes += e >= 1 ? 1 : 0;
      e = o = 0;
    }
    EXPECT_NEAR(chi, classes, 3 * std::sqrt(2 * classes) + 3) << spec;
  }
}

TEST(LabLaws, ZipfOfAHugeUniverseNeedsNoTable) {
  std::size_t below = 0;
  constexpr std::size_t records = 1'000'000;
  for (const std::uint64_t key : draw("zipf:U=1e15,s=0.5", records).keys) {
    ASSERT_LT(key, 1'000'000'000'000'000u);
    below += key < 250'000'000'000'000u ? 1 : 0;  // sqrt(1/4)
  }
  EXPECT_NEAR(static_cast<double>(below) / records, 0.5, three_errors(0.5, records));
}

TEST(LabLaws, AWorkingSetSlides) {
  std::uint64_t made = 0;
  constexpr std::size_t records = 100'000;
  for (const std::uint64_t key : draw("working-set:W=500,new=0.1", records).keys) {
    if (key == made)
      ++made;
    else
      ASSERT_TRUE(key < made && key + 500 >= made);
  }
  EXPECT_NEAR(static_cast<double>(made) / records, 0.1, three_errors(0.1, records));
}

TEST(LabLaws, TheKeySpaceDriftsAndTheNewestIsTheMostPopular) {
  constexpr std::size_t records = 100'000;
  const auto keys = draw("drift:U=1000,s=1,rate=0.25", records).keys;
  double newest = 0, sum = 0;
  for (std::size_t i = 0; i < records; ++i) {
    ASSERT_GE(keys[i], i / 4);
    ASSERT_LT(keys[i], i / 4 + 1000);
    newest += keys[i] == i / 4 + 999 ? 1 : 0;
  }
  for (int i = 1; i <= 1000; ++i) sum += 1.0 / i;
  EXPECT_NEAR(newest / records, 1 / sum, three_errors(1 / sum, records));
}

TEST(LabLaws, BurstsAreAsLongAndAsManyAsAsked) {
  constexpr std::size_t records = 200'000;
  const auto drawn = draw("bursts:U=1e15,length=20,open=50", records);
  const double keys =
      static_cast<double>(std::set<std::uint64_t>(drawn.keys.begin(), drawn.keys.end()).size());
  EXPECT_NEAR(keys - 50, records / 20.0, 3 * std::sqrt(records / 20.0));
  double sum = 0;
  const std::vector<double> apart = distances(drawn.keys);
  for (const double d : apart) sum += d;
  const auto n = static_cast<double>(apart.size());
  EXPECT_NEAR(sum / n, 50, 3 * 50 / std::sqrt(n));  // geometric: deviation as mean
}

TEST(LabLaws, RepeatsComeAtTheirDistances) {
  constexpr std::size_t records = 400'000;
  for (const double d : distances(draw("fixed:d=70000,again=0.4", records).keys))
    ASSERT_EQ(d, 70'000);
  double sum = 0, squares = 0;
  const std::vector<double> near = distances(draw("geometric:mean=500,again=0.4", records).keys);
  for (const double d : near) sum += d, squares += d * d;
  auto n = static_cast<double>(near.size());
  EXPECT_NEAR(n / records, 0.4, three_errors(0.4, records) + 500.0 / records);
  // A place that is taken passes the repeat on: by less than 1/(1 - 0.4) records.
  EXPECT_NEAR(sum / n, 500.8, 3 * 500 / std::sqrt(n) + 0.8);
  EXPECT_NEAR(std::sqrt(squares / n), std::sqrt(2.0) * 500, 0.02 * 700);
  std::size_t beyond = 0;
  const auto far = distances(draw("pareto:least=100,shape=2,again=0.4", records).keys);
  for (const double d : far) {
    ASSERT_GE(d, 100);
    beyond += d > 400 ? 1 : 0;  // (1/4)^2
  }
  n = static_cast<double>(far.size());
  EXPECT_NEAR(static_cast<double>(beyond) / n, 1 / 16.0, three_errors(1 / 16.0, n) + 0.001);
}

TEST(LabLaws, ImportanceBelongsToTheKeyAndSteersHowOftenItComes) {
  constexpr std::size_t records = 200'000;
  for (const std::string kind : {"uniform", "proportional", "inverse"}) {
    const Drawn drawn = draw("uniform:U=20000,importance=" + kind + ",imax=5", records);
    std::map<std::uint64_t, std::uint32_t> weight;
    std::vector<double> keys(6), times(6);
    for (std::size_t i = 0; i < records; ++i) {
      const auto [at, is_new] = weight.emplace(drawn.keys[i], drawn.weights[i]);
      ASSERT_EQ(at->second, drawn.weights[i]);
      ASSERT_TRUE(at->second >= 1 && at->second <= 5);
      keys[at->second] += is_new ? 1 : 0, times[at->second] += 1;
    }
    double sum = 0;
    const auto chance = [&](unsigned w) {
      return kind == "uniform" ? 1.0 : kind == "inverse" ? 1.0 / w : w;
    };
    for (unsigned w = 1; w <= 5; ++w) sum += keys[w] * chance(w);
    for (unsigned w = 1; w <= 5; ++w) {
      const double expected = keys[w] * chance(w) / sum;
      EXPECT_NEAR(times[w] / records, expected, three_errors(expected, records)) << kind << w;
    }
  }
}

TEST(LabLaws, AFileIsReadAsItGoes) {
  const auto path =
      std::filesystem::temp_directory_path() / ("weir-law-" + std::to_string(::getpid()) + ".txt");
  std::ofstream(path) << "a;3\nb;4\na;5";
  const Drawn drawn = [&] {
    const auto stream =
        make_stream("trace:file=" + path.string() + ",key=1,weight=2,separator=semicolon", 1);
    EXPECT_TRUE(stream->weighted());
    EXPECT_EQ(stream->bound(3), 0u);
    Drawn d{std::vector<std::uint64_t>(10), std::vector<std::uint32_t>(10)};
    EXPECT_EQ(stream->fill(d.keys, d.weights), 3u);
    EXPECT_EQ(stream->fill(d.keys, d.weights), 0u);
    return d;
  }();
  EXPECT_EQ(drawn.keys[0], drawn.keys[2]);
  EXPECT_NE(drawn.keys[0], drawn.keys[1]);
  EXPECT_EQ(drawn.weights[2], 5u);
  EXPECT_NE(refusal("trace:file=" + path.string() + ",weight=2,importance=uniform"), "");
  std::filesystem::remove(path);
  EXPECT_THROW(make_stream("trace:file=/nowhere/at/all", 1), Error);
}

TEST(LabLaws, AreRefusedInOneSentence) {
  EXPECT_NE(refusal("zpif:U=9").find("nearest is zipf"), std::string::npos);
  EXPECT_NE(refusal("zipf:U=9").find("lacks its parameter s"), std::string::npos);
  EXPECT_NE(refusal("zipf:U=9,s=1,t=3").find("has no parameter t=3"), std::string::npos);
  EXPECT_NE(refusal("uniform").find("lacks its parameter U or share"), std::string::npos);
  EXPECT_NE(refusal("uniform:share=0.4").find("N"), std::string::npos);
  EXPECT_NE(refusal("zipf:U=9,s=-1").find("between 0 and 10"), std::string::npos);
  EXPECT_NE(refusal("fixed:d=5,again=0.3,importance=inverse").find("only importance=uniform"),
            std::string::npos);
  EXPECT_NE(refusal("uniform:U=9,imax=4").find("importance"), std::string::npos);
  EXPECT_NE(refusal("uniform:U=9,importance=loud").find("must be one of"), std::string::npos);
  EXPECT_NE(refusal("trace").find("file"), std::string::npos);
  EXPECT_NE(refusal("").find("there are uniform, "), std::string::npos);
}

}  // namespace
}  // namespace weir::lab
