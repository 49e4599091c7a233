#include "core/params.hpp"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "core/cells.hpp"

namespace weir {
namespace {

using testing::HasSubstr;

std::string sentence_of(const std::string& spec, const Request& request = {.memory = 1 << 20}) {
  try {
    make_structure(spec, request);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Config) << spec;
    return error.what();
  }
  ADD_FAILURE() << spec << " was accepted";
  return "";
}

TEST(Params, BadOnesAreRefusedWithASentenceThatHelps) {
  EXPECT_THAT(sentence_of("nosuch"), HasSubstr("there are weir, bloom, blocked-bloom"));
  EXPECT_THAT(sentence_of("rsbf:q=3"), HasSubstr("rsbf has no parameter 'q'; it has M, k"));
  EXPECT_THAT(sentence_of("rsbf:k"), HasSubstr("name=value"));
  EXPECT_THAT(sentence_of("rsbf:k="), HasSubstr("name=value"));
  EXPECT_THAT(sentence_of("rsbf:=3"), HasSubstr("name=value"));
  EXPECT_THAT(sentence_of("rsbf:k=3,k=4"), HasSubstr("twice"));
  EXPECT_THAT(sentence_of("rsbf:k=0"), HasSubstr("between 1 and 16"));
  EXPECT_THAT(sentence_of("rsbf:k=-1"), HasSubstr("whole number"));
  EXPECT_THAT(sentence_of("rsbf:k=3x"), HasSubstr("whole number"));
  EXPECT_THAT(sentence_of("rsbf:k=99999999999999999999999"), HasSubstr("whole number"));
  EXPECT_THAT(sentence_of("rsbf:mode=prose"), HasSubstr("one of: tables, text"));
  EXPECT_THAT(sentence_of("rsbf:pstar=nan"), HasSubstr("between"));
  EXPECT_THAT(sentence_of("bloom:m=100000000"), HasSubstr("more than the budget"));
  EXPECT_THAT(sentence_of("bloom", {}), HasSubstr("needs a size"));
  EXPECT_THAT(sentence_of("bloom", {.memory = 1 << 20, .fpr = 0}), HasSubstr("above 0"));
  EXPECT_THAT(sentence_of("bloom", {.memory = 1 << 20, .shards = 0}), HasSubstr("shards"));
}

TEST(Params, EveryParameterOfTheCatalogueIsReachableAndDescribed) {
  for (const StructureInfo* info : catalog()) {
    const auto made = make_structure(info->name, {.memory = 1 << 20});
    // What parameters() prints makes an equal structure again.
    const auto again = make_structure(std::string(info->name) + ":" + made->parameters());
    EXPECT_EQ(again->parameters(), made->parameters());
    EXPECT_EQ(again->payload().size(), made->payload().size());
    for (const ParameterInfo& p : info->parameters) {
      EXPECT_GT(std::string_view(p.meaning).size(), 3u) << info->name << ' ' << p.name;
      EXPECT_THAT(sentence_of(std::string(info->name) + ":" + p.name + "=#"), HasSubstr(p.name));
    }
  }
}

TEST(Params, ThePapersDefaultsComeOut) {
  const auto parameters = [](const char* spec, double fpr) {
    return make_structure(spec, {.memory = 1 << 20, .fpr = fpr})->parameters();
  };
  EXPECT_THAT(parameters("rsbf", 0.1), HasSubstr("k=3,mode=tables,pstar=0.03"));
  EXPECT_THAT(parameters("rsbf:aim=fnr", 0.1), HasSubstr("k=1"));
  EXPECT_THAT(parameters("rsbf:aim=fpr", 0.1), HasSubstr("k=5"));
  EXPECT_THAT(parameters("rsbf:FPRt=0.1", 0.001), HasSubstr("k=3"));
  EXPECT_THAT(parameters("stable:K=2", 0.1), HasSubstr("K=2,P=5,Max=1"));  // 4.32 rounded up
  EXPECT_THAT(parameters("stable:d=3", 0.1), HasSubstr("Max=7"));
  EXPECT_THAT(parameters("ibf-mc", 0.1), HasSubstr("K=5,P=10,M=7,imax=7"));
}

TEST(Cells, AreIndependentForEveryWidth) {
  EXPECT_TRUE(rc::check([] {
    const auto bits = *rc::gen::inRange(1u, 9u);
    const auto count = *rc::gen::inRange<std::uint64_t>(1, 500);
    std::vector<std::uint64_t> memory(Cells::bytes(count, bits) / 8);
    Cells cells(reinterpret_cast<std::byte*>(memory.data()), bits);
    std::vector<unsigned> expected(count);
    const auto writes = *rc::gen::container<std::vector<std::pair<std::uint64_t, unsigned>>>(
        rc::gen::pair(rc::gen::inRange<std::uint64_t>(0, count), rc::gen::inRange(0u, 1u << bits)));
    for (const auto& [at, value] : writes) cells.set(at, value), expected[at] = value;
    std::uint64_t nonzero = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      RC_ASSERT(cells.get(i) == expected[i]);
      nonzero += expected[i] != 0;
    }
    RC_ASSERT(cells.count_nonzero(0, count) == nonzero);
  }));
}

}  // namespace
}  // namespace weir
