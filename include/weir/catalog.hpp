// The list of structures, and how to make one.
//
//   auto filter = weir::make_filter("stable:K=2,P=4,Max=1", {.memory = 64 << 20});
//   if (filter->observe(filter->digest(line)) == weir::Verdict::New) emit(line);
//
// A structure is listed once, in src/core/structures.def. From that line come its name in
// the command line, its law tests, its golden file, its benchmark row and its row in the docs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "weir/error.hpp"
#include "weir/filter.hpp"
#include "weir/samplers.hpp"
#include "weir/sketches.hpp"

namespace weir {

enum class Kind : std::uint8_t { Filter, Sketch, Sample };
const char* kind_name(Kind kind) noexcept;

struct ParameterInfo {
  const char* name;      // under the paper's own letter
  const char* meaning;   // what it does
  const char* standard;  // what it is when not given
};

struct StructureInfo {
  const char* name;
  Kind kind;
  const char* purpose;    // for what
  const char* guarantee;  // what it promises
  const char* paper;      // authors and year
  std::span<const ParameterInfo> parameters;
  bool forgets = false;   // old keys fade: false negatives are possible, the FPR stays put
  bool weighted = false;  // knows importance
  // The parameter of which one less is the smallest step to a higher FPR and fewer misses in the
  // same memory; null where the aimed-at FPR itself gives the finest steps.
  const char* fine = nullptr;
};

// Which machine code runs; all give the same result. Auto takes the best the CPU has.
enum class Kernel : std::uint8_t { Auto, Scalar, Avx2, Avx512 };

struct Request {
  std::uint64_t memory = 0;  // bytes, everything included; 0: follows from the parameters or keys
  double fpr = 0.001;        // aimed-at false-positive rate
  std::uint64_t keys = 0;    // expected distinct keys; 0: unknown
  std::uint32_t shards = 1;  // 1 is the paper's structure
  HashKind hash = HashKind::Xxh3;
  std::optional<std::uint64_t> seed = {};  // absent: random secret and random seed
  std::optional<Digester> digester = {};   // instead of hash and the seed's secret: this one
  Kernel kernel = Kernel::Auto;
};

// Of every budget this much is kept free for the short-lived strings of creating, saving
// and loading, so that the sum stays within the budget at every moment.
inline constexpr std::uint64_t budget_reserve = 4096;

std::span<const StructureInfo* const> catalog() noexcept;
// Null when there is no such name.
const StructureInfo* find_structure(std::string_view name) noexcept;

// `spec` is NAME or NAME:parameter=value,... Size parameters are those of one shard.
// Throws Error(Config) or Error(NoMemory).
StructurePtr make_structure(std::string_view spec, const Request& request = {});
FilterPtr make_filter(std::string_view spec, const Request& request = {});
SketchPtr make_sketch(std::string_view spec, const Request& request = {});
SamplePtr make_sample(std::string_view spec, const Request& request = {});

}  // namespace weir
