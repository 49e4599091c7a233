// Law 1: batch equals scalar, for any batch size; every kernel equals the scalar one.
#include <rapidcheck.h>

#include "core/kernel.hpp"
#include "laws/every_structure.hpp"
#include "sanitized.hpp"

namespace weir::laws {
namespace {

constexpr Request small = {.memory = 96 << 10, .fpr = 0.01, .seed = 11};

class Batch : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Every, Batch, testing::ValuesIn(every_variant()), test_name);

TEST_P(Batch, GivesWhatSingleCallsGiveForAnyBatchSize) {
  const std::size_t records = test::sanitized ? 4'000 : 20'000;
  const auto digests = stream(1, records, records * 3 / 4);
  for (const std::uint32_t shards : {1u, 5u}) {
    if (shards > 1 && !takes_shards(GetParam())) continue;
    Request request = small;
    request.shards = shards;
    const auto single = make_structure(GetParam(), request);
    const auto expected = answers(*single, digests, 0);
    const std::vector<std::size_t> batches = {1,  2,  3,  7,   31,   32,     33,
                                              47, 48, 49, 100, 1024, records};
    for (const std::size_t batch : batches) {
      const auto batched = make_structure(GetParam(), request);
      ASSERT_EQ(answers(*batched, digests, batch), expected) << batch;
      ASSERT_TRUE(same_state(*single, *batched)) << batch;
    }
  }
}

TEST_P(Batch, GivesTheSameForAnyCutOfTheStream) {
  EXPECT_TRUE(rc::check([&] {
    const auto length = *rc::gen::inRange<std::size_t>(0, 3000);
    const auto digests = stream(*rc::gen::arbitrary<std::uint64_t>(), length, 500);
    const auto whole = make_structure(GetParam(), small), cut = make_structure(GetParam(), small);
    answers(*whole, digests, 0);
    for (std::size_t at = 0; at < length;) {
      const auto n = std::min(length - at, *rc::gen::inRange<std::size_t>(1, 200));
      answers(*cut, std::span(digests).subspan(at, n), *rc::gen::inRange<std::size_t>(0, 64));
      at += n;
    }
    RC_ASSERT(same_state(*whole, *cut));
  }));
}

TEST_P(Batch, LooksWithoutChangingAnything) {
  const auto structure = make_structure(GetParam(), small);
  const auto digests = stream(2, 20'000, 15'000);
  answers(*structure, digests, 64);
  const auto before = std::vector(structure->payload().begin(), structure->payload().end());
  const auto others = stream(3, 5'000, 30'000);
  if (structure->info().kind == Kind::Filter) {
    const auto& filter = static_cast<const Filter&>(*structure);
    std::vector<Verdict> verdicts(others.size());
    filter.contains(others, verdicts);
    for (std::size_t i = 0; i < others.size(); ++i)
      ASSERT_EQ(filter.contains(others[i]), verdicts[i] == Verdict::Seen);
  } else if (structure->info().kind == Kind::Sketch) {
    const auto& sketch = static_cast<const Sketch&>(*structure);
    std::vector<std::uint64_t> estimates(others.size());
    sketch.estimate(others, estimates);
    for (std::size_t i = 0; i < others.size(); ++i)
      ASSERT_EQ(sketch.estimate(others[i]), estimates[i]);
  }
  EXPECT_TRUE(std::ranges::equal(before, structure->payload()));
}

TEST_P(Batch, GivesTheSameWithEveryKernel) {
  const auto digests = stream(4, 50'000, 30'000);
  Request request = small;
  request.kernel = Kernel::Scalar;
  const auto scalar = make_structure(GetParam(), request);
  const auto expected = answers(*scalar, digests, 100);
  for (const Kernel kernel : {Kernel::Avx2, Kernel::Avx512}) {
    if (!cpu_has(kernel)) continue;
    request.kernel = kernel;
    const auto other = make_structure(GetParam(), request);
    EXPECT_EQ(answers(*other, digests, 100), expected);
    EXPECT_TRUE(same_state(*scalar, *other));
  }
}

class Shards : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Every, Shards, testing::ValuesIn(every_filter()), test_name);

TEST_P(Shards, GiveTheSameWhenEachIsDrivenApart) {
  Request request = small;
  request.shards = 7;
  const auto together = make_filter(GetParam(), request), apart = make_filter(GetParam(), request);
  const auto digests = stream(5, 50'000, 30'000);
  std::vector<Verdict> expected(digests.size());
  together->observe(digests, expected);

  for (std::uint32_t shard = 7; shard-- > 0;) {  // in another order than the stream's
    std::vector<Digest> own;
    std::vector<std::size_t> from;
    for (std::size_t i = 0; i < digests.size(); ++i)
      if (apart->shard_of(digests[i]) == shard) own.push_back(digests[i]), from.push_back(i);
    ASSERT_FALSE(own.empty());
    std::vector<Verdict> verdicts(own.size());
    apart->observe_shard(shard, own, verdicts);
    for (std::size_t i = 0; i < own.size(); ++i) ASSERT_EQ(verdicts[i], expected[from[i]]);
  }
  EXPECT_TRUE(same_state(*together, *apart));
}

}  // namespace
}  // namespace weir::laws
