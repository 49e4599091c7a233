// Drives any structure of the catalogue, whatever its kind, and writes down what it answers.
// For tests and fuzzers that know the catalogue only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/bits.hpp"
#include "weir/catalog.hpp"

namespace weir::test {

// One answer a digest: a verdict or an estimate. A sample is asked at the end: its records.
// Filters that know importance get weights 1..8 in turn.
inline std::vector<std::uint64_t> drive(Structure& structure, std::span<const Digest> digests) {
  std::vector<std::uint64_t> answers(digests.size());
  switch (structure.info().kind) {
    case Kind::Filter: {
      auto& filter = static_cast<Filter&>(structure);
      std::vector<Verdict> verdicts(digests.size());
      std::vector<std::uint32_t> weights(digests.size());
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<std::uint32_t>(i % 8 + 1);
      filter.observe(digests, weights, verdicts);
      for (std::size_t i = 0; i < answers.size(); ++i)
        answers[i] = static_cast<std::uint64_t>(verdicts[i]);
      break;
    }
    case Kind::Sketch:
      static_cast<Sketch&>(structure).add(digests, answers);
      break;
    case Kind::Sample:
      static_cast<Sample&>(structure).offer(digests);
      return static_cast<Sample&>(structure).records();
  }
  return answers;
}

// A stream with repeats: `count` digests drawn from `universe` keys.
inline std::vector<Digest> repeating_stream(std::size_t count, std::uint64_t universe,
                                            std::uint64_t seed) {
  Draws draws(mix(seed, 0x57ea));
  std::vector<Digest> digests(count);
  for (Digest& digest : digests) digest = mix(draws.below(universe), 0xd19e57);
  return digests;
}

// As many shards as the kind allows, up to `wanted`.
inline std::uint32_t shards_for(const StructureInfo& info, std::uint32_t wanted) {
  return info.kind == Kind::Sample ? 1 : wanted;
}

// Test names may hold letters and digits only.
inline std::string test_name(const StructureInfo& info) {
  std::string name = info.name;
  std::erase(name, '-');
  return name;
}

}  // namespace weir::test
