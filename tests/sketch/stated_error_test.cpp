// What a sketch says of its own error, against exact counts: on Zipf's law, and on real streams
// where they lie beside the project.
#include <gtest/gtest.h>

#include <cmath>
#include <unordered_map>

#include "lab/real_streams.hpp"
#include "sketch_testing.hpp"

namespace weir {
namespace {

using test::ZipfStream;

using Truth = std::unordered_map<Digest, std::uint64_t>;

struct Stream {
  std::string name;
  std::vector<Digest> digests;
  Truth truth;
};

Stream stream_of(std::string name, std::vector<Digest> digests) {
  Stream made{std::move(name), std::move(digests), {}};
  for (const Digest digest : made.digests) ++made.truth[digest];
  return made;
}

std::vector<Stream> streams() {
  std::vector<Stream> all;
  for (const double exponent : {0.7, 1.0, 1.3})
    all.push_back(stream_of("zipf " + std::to_string(exponent),
                            ZipfStream(50'000, exponent, 500'000, 1).digests()));
  const Digester digester = Digester::from_seed(HashKind::Xxh3, 5);
  for (const char* name : {"web12", "orm-night"}) {
    std::vector<Digest> digests;
    for (const std::string& line : test::real_stream(name)) digests.push_back(digester(line));
    if (!digests.empty()) all.push_back(stream_of(name, std::move(digests)));
  }
  return all;
}

class StatedError : public testing::TestWithParam<const char*> {};

// The chance is an upper bound; three standard errors of a share of the keys stand beside it.
TEST_P(StatedError, BoundsTheSurplusOfAllButTheStatedShareOfKeys) {
  static const std::vector<Stream> all = streams();
  for (const Stream& stream : all) {
    const auto sketch = make_sketch(GetParam(), {.memory = 512 << 10, .seed = 11});
    sketch->add(stream.digests, {});
    const CountError error = sketch->error();
    double over = 0;
    for (const auto& [digest, count] : stream.truth) {
      const std::uint64_t estimate = sketch->estimate(digest);
      if (error.never_below) {
        ASSERT_GE(estimate, count) << stream.name;
      }
      over += static_cast<double>(estimate) > static_cast<double>(count) + error.surplus;
    }
    const auto keys = static_cast<double>(stream.truth.size());
    const double noise = 3 * std::sqrt(error.chance * (1 - error.chance) / keys);
    EXPECT_LE(over / keys, std::max(1.05 * error.chance, error.chance + noise)) << stream.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, StatedError,
                         testing::Values("count-min", "count-min:update=conservative",
                                         "count-min:delta=0.2", "spectral", "spectral:k=2",
                                         "spectral:rule=minimal-increase",
                                         "spectral:rule=recurring-minimum"));

TEST(StatedError, FollowsWhatWasAskedFor) {
  const auto sketch = make_sketch("count-min:epsilon=0.001,delta=0.01", {.seed = 1});
  sketch->add(ZipfStream(1000, 1, 20'000, 1).digests(), {});
  EXPECT_LE(sketch->error().surplus, 0.001 * 20'000);
  EXPECT_LE(sketch->error().chance, 0.01);
  EXPECT_TRUE(sketch->error().never_below);
  EXPECT_FALSE(make_sketch("spectral:m=100,k=2,rule=recurring-minimum")->error().never_below);
}

TEST(StatedError, TakingBackInBatchesStopsAtWhatNeverCame) {
  for (const char* spec : {"count-min:w=1000,d=3", "spectral:m=1000,k=3"}) {
    const auto sketch = make_sketch(spec, {.shards = 3, .seed = 1});
    const std::vector<Digest> came = {1, 2, 3, 2}, too_often = {2, 2, 1, 1, 3};
    const auto empty = test::cells(*sketch);
    sketch->add(came, {});
    EXPECT_EQ(sketch->remove(came), came.size());
    EXPECT_EQ(test::cells(*sketch), empty);
    sketch->add(came, {});
    EXPECT_EQ(sketch->remove(too_often), 3u);
    EXPECT_EQ(sketch->total(), 1u);
  }
}

}  // namespace
}  // namespace weir
