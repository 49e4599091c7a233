// Law tests run over every structure of the catalogue, and over the modes a structure has beside
// its default. A structure that is new in the catalogue is under the laws without a line here.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "checkpoint/forger.hpp"
#include "core/bits.hpp"
#include "weir/catalog.hpp"
#include "weir/snapshot.hpp"

namespace weir::laws {

inline std::vector<std::string> every_structure() {
  std::vector<std::string> specs;
  for (const StructureInfo* info : catalog()) specs.emplace_back(info->name);
  return specs;
}

// The catalogue, and what else of a structure is an algorithm of its own.
inline std::vector<std::string> every_variant() {
  std::vector<std::string> specs = every_structure();
  for (const char* more : {"weir:a=0",
                           "weir:n=100,B=130",
                           "weir:e=1",
                           "weir:imax=7",
                           "bloom:m=100007",
                           "blocked-bloom:k=5",
                           "blocked-bloom:k=13",
                           "stable:Max=3",
                           "stable:Max=2",
                           "stable:d=8,K=3,P=40",
                           "rsbf:mode=text",
                           "rsbf:k=1",
                           "rsbf:aim=fpr,pstar=0.2",
                           "bsbf:k=1",
                           "bsbfsd:k=2",
                           "rlbsbf:k=13",
                           "qht:b=4",
                           "qht:b=3,f=21",
                           "ibf-2c:d=4",
                           "ibf-h:P=30",
                           "apbf:refresh=no",
                           "apbf:count=insertions,refresh=no",
                           "apbf:g=0",
                           "apbf:k=2,l=3,g=3",
                           "a2:count=records",
                           "a2:refresh=no",
                           "a2:g=0",
                           "a2:k=2,g=3",
                           "spectral:rule=minimal-increase",
                           "spectral:rule=recurring-minimum",
                           "spectral:bits=8",
                           "count-min:update=conservative",
                           "count-min:bits=16"})
    specs.emplace_back(more);
  return specs;
}

inline std::vector<std::string> every_filter() {
  std::vector<std::string> specs;
  for (const StructureInfo* info : catalog())
    if (info->kind == Kind::Filter) specs.emplace_back(info->name);
  return specs;
}

inline std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

inline bool takes_shards(const std::string& spec) {
  return find_structure(spec.substr(0, spec.find(':')))->kind != Kind::Sample;
}

// Digests of a stream that repeats itself: uniform over `universe` keys.
inline std::vector<Digest> stream(std::uint64_t seed, std::size_t records, std::uint64_t universe) {
  std::vector<Digest> digests(records);
  Draws draws(mix(seed, 1));
  for (Digest& digest : digests) digest = mix(draws.below(universe), 0xd19e57);
  return digests;
}
inline std::vector<std::uint32_t> weights_of(std::span<const Digest> digests) {
  std::vector<std::uint32_t> weights;
  for (const Digest digest : digests) weights.push_back(1 + static_cast<std::uint32_t>(digest % 7));
  return weights;
}

// What a structure answers to a piece of the stream, whatever its kind; by single calls
// (batch = 0) or in batches.
inline std::vector<std::uint64_t> answers(Structure& structure, std::span<const Digest> digests,
                                          std::size_t batch) {
  std::vector<std::uint64_t> out(digests.size());
  if (structure.info().kind == Kind::Filter) {
    auto& filter = static_cast<Filter&>(structure);
    const auto weights = weights_of(digests);
    std::vector<Verdict> verdicts(digests.size());
    for (std::size_t at = 0; at < digests.size(); at += std::max<std::size_t>(batch, 1)) {
      const std::size_t n = std::min(std::max<std::size_t>(batch, 1), digests.size() - at);
      if (batch == 0)
        verdicts[at] = filter.observe(digests[at], weights[at]);
      else
        filter.observe(digests.subspan(at, n), std::span(weights).subspan(at, n),
                       std::span(verdicts).subspan(at, n));
    }
    std::transform(verdicts.begin(), verdicts.end(), out.begin(),
                   [](Verdict v) { return static_cast<std::uint64_t>(v); });
  } else if (structure.info().kind == Kind::Sketch) {
    auto& sketch = static_cast<Sketch&>(structure);
    for (std::size_t at = 0; at < digests.size(); at += std::max<std::size_t>(batch, 1)) {
      const std::size_t n = std::min(std::max<std::size_t>(batch, 1), digests.size() - at);
      if (batch == 0)
        out[at] = sketch.add(digests[at]);
      else
        sketch.add(digests.subspan(at, n), std::span(out).subspan(at, n));
    }
  } else {
    auto& sample = static_cast<Sample&>(structure);
    for (std::size_t at = 0; at < digests.size(); at += std::max<std::size_t>(batch, 1)) {
      const std::size_t n = std::min(std::max<std::size_t>(batch, 1), digests.size() - at);
      if (batch == 0)
        sample.offer(digests[at]);
      else
        sample.offer(digests.subspan(at, n));
    }
    out = sample.records();
  }
  return out;
}

inline StructurePtr reloaded(const Structure& structure) {
  return test::structure_of(test::snapshot_of(structure));
}

// Cells and counters; the rest of a snapshot but its date follows from them.
inline bool same_state(const Structure& a, const Structure& b) {
  const Health x = a.health(), y = b.health();
  return std::ranges::equal(a.payload(), b.payload()) && x.records == y.records &&
         x.seen == y.seen && x.fill == y.fill && x.fpr == y.fpr;
}

}  // namespace weir::laws
