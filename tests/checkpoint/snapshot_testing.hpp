// What the tests of the checkpoint share: small states of every structure, and what a refusal
// must look like.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <concepts>
#include <string>

#include "any_structure.hpp"
#include "forger.hpp"

namespace weir::test {

// With records in it. About the smallest budget every structure can live in is 8 KiB a shard.
inline StructurePtr make_used(const StructureInfo& info, std::uint64_t memory,
                              std::uint32_t shards = 1) {
  StructurePtr made = make_structure(
      info.name, {.memory = memory, .fpr = 0.1, .shards = shards_for(info, shards), .seed = 7});
  drive(*made, repeating_stream(3000, 1000, 1));
  return made;
}

// Empty when the call is refused as it must be: a BadState error with one sentence. Otherwise what
// happened instead.
template <std::invocable Call>
std::string refusal_fault(Call call) {
  try {
    call();
    return "it was loaded";
  } catch (const Error& error) {
    const std::string sentence = error.what();
    if (error.code() != ErrorCode::BadState) return "another error: " + sentence;
    if (sentence.empty()) return "no sentence";
    if (sentence.find('\n') != std::string::npos) return "several lines: " + sentence;
    return {};
  }
}
inline std::string refusal_fault(std::span<const std::byte> snapshot) {
  return refusal_fault([&] { structure_of(snapshot); });
}

// Empty when the structure can be used like any other: it answers, its figures are shares, and
// saved and loaded again it goes on as the original does.
inline std::string use_fault(Structure& structure) {
  drive(structure, repeating_stream(300, 100, 2));
  const Health health = structure.health();
  if (!(health.fill >= 0 && health.fill <= 1 && health.fpr >= 0 && health.fpr <= 1))
    return "fill " + std::to_string(health.fill) + ", FPR " + std::to_string(health.fpr);
  try {
    const StructurePtr again = structure_of(snapshot_of(structure));
    const auto stream = repeating_stream(300, 100, 3);
    if (drive(*again, stream) != drive(structure, stream)) return "a copy goes on differently";
  } catch (const Error& error) {
    return std::string("loaded, but not loadable again: ") + error.what();
  }
  return {};
}

// A forgery is refused, or it is a valid structure of the forger's choice.
inline std::string forgery_fault(const Bytes& forged) {
  StructurePtr loaded;
  const std::string fault = refusal_fault([&] { loaded = structure_of(forged); });
  return loaded == nullptr ? fault : use_fault(*loaded);
}

class EveryStructure : public testing::TestWithParam<const StructureInfo*> {
 protected:
  static const StructureInfo& info() { return *GetParam(); }
};
inline std::string name_of_parameter(const testing::TestParamInfo<const StructureInfo*>& info) {
  return test_name(*info.param);
}

}  // namespace weir::test

#define WEIR_FOR_EVERY_STRUCTURE(suite)                                                       \
  INSTANTIATE_TEST_SUITE_P(Catalog, suite,                                                    \
                           testing::ValuesIn(weir::catalog().begin(), weir::catalog().end()), \
                           weir::test::name_of_parameter)
