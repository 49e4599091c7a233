// Law 5: what is promised without "about".
#include <rapidcheck.h>

#include <map>

#include "laws/every_structure.hpp"

namespace weir::laws {
namespace {

class Guarantee : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Every, Guarantee, testing::ValuesIn(every_structure()), test_name);

TEST_P(Guarantee, AFilterThatDoesNotForgetHasNoFalseNegative) {
  const StructureInfo& info = *find_structure(GetParam());
  if (info.kind != Kind::Filter || info.forgets) return;  // others promise other things
  EXPECT_TRUE(rc::check([&] {
    const auto filter = make_filter(GetParam(), {.memory = 16 << 10});
    const auto digests = *rc::gen::container<std::vector<Digest>>(rc::gen::arbitrary<Digest>());
    std::vector<Verdict> verdicts(digests.size());
    filter->observe(digests, verdicts);
    for (const Digest digest : digests) RC_ASSERT(filter->contains(digest));
    filter->observe(digests, verdicts);
    for (const Verdict verdict : verdicts) RC_ASSERT(verdict == Verdict::Seen);
  }));
  // And far beyond what it was made for.
  const auto filter = make_filter(GetParam(), {.memory = 16 << 10});
  const auto digests = stream(1, 300'000, std::uint64_t{1} << 40);
  std::vector<Verdict> verdicts(digests.size());
  filter->observe(digests, verdicts);
  filter->contains(digests, verdicts);
  EXPECT_EQ(std::ranges::count(verdicts, Verdict::New), 0);
}

TEST_P(Guarantee, ASketchNeverUnderestimates) {
  if (find_structure(GetParam())->kind != Kind::Sketch) return;
  std::vector<std::string> specs = {GetParam()};  // the default rule of each promises it
  if (GetParam() == "spectral") specs.emplace_back("spectral:rule=minimal-increase");
  if (GetParam() == "count-min") specs.emplace_back("count-min:update=conservative");
  for (const std::string& spec : specs) {
    const auto sketch = make_sketch(spec, {.memory = 16 << 10});
    std::map<Digest, std::uint64_t> truth;
    for (const Digest digest : stream(2, 100'000, 5'000)) ++truth[digest], sketch->add(digest);
    for (const auto& [digest, count] : truth) ASSERT_GE(sketch->estimate(digest), count) << spec;
  }
}

TEST_P(Guarantee, NothingOnTheWayOfARecordDependsOnLuckOutsideTheSeed) {
  const auto digests = stream(3, 30'000, 20'000);
  const auto a = make_structure(GetParam(), {.memory = 32 << 10, .seed = 3});
  const auto b = make_structure(GetParam(), {.memory = 32 << 10, .seed = 3});
  EXPECT_EQ(answers(*a, digests, 17), answers(*b, digests, 1000));
}

TEST_P(Guarantee, AnotherShapeOrSecretIsNotMerged) {
  const auto one = make_structure(GetParam(), {.memory = 64 << 10, .seed = 1});
  const auto larger = make_structure(GetParam(), {.memory = 128 << 10, .seed = 1});
  EXPECT_THROW(one->merge(*larger), Error);
  const auto before = std::vector(one->payload().begin(), one->payload().end());
  for (const std::string& other : every_structure())
    if (other != GetParam()) {
      const auto foreign = make_structure(other, {.memory = 64 << 10, .seed = 1});
      EXPECT_THROW(one->merge(*foreign), Error) << other;
    }
  EXPECT_TRUE(std::ranges::equal(before, one->payload()));
}

}  // namespace
}  // namespace weir::laws
