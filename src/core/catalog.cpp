#include "weir/catalog.hpp"

#include <sodium.h>

#include <array>
#include <string>

#include "core/catalog.hpp"

namespace weir {

namespace {

constexpr std::array all_entries = {
#define WEIR_STRUCTURE(symbol) &structure_##symbol,
#include "core/structures.def"
#undef WEIR_STRUCTURE
};

constexpr auto all_infos = [] {
  std::array<const StructureInfo*, all_entries.size()> infos{};
  for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = all_entries[i];
  return infos;
}();

StructurePtr make_of_kind(std::string_view spec, const Request& request, Kind kind) {
  StructurePtr made = make_structure(spec, request);
  if (made->info().kind != kind)
    throw Error(ErrorCode::Config, std::string(made->info().name) + " is a " +
                                       kind_name(made->info().kind) + ", not a " + kind_name(kind));
  return made;
}

void check(const Request& request) {
  if (!(request.fpr > 0 && request.fpr < 1))
    throw Error(ErrorCode::Config, "the false-positive rate must be above 0 and below 1");
  if (request.shards < 1 || request.shards > max_shards)
    throw Error(ErrorCode::Config,
                "the number of shards must be between 1 and " + std::to_string(max_shards));
}

// What the budget leaves for the cells of one shard.
std::uint64_t bytes_a_shard(const StructureEntry& entry, const Request& request) {
  if (request.memory == 0) return 0;
  const std::uint64_t fixed = entry.overhead(request.shards) + budget_reserve;
  const std::uint64_t least = fixed + request.shards * line_bytes;
  if (request.memory < least)
    throw Error(ErrorCode::Config,
                std::string(entry.name) + " with " + std::to_string(request.shards) +
                    " shard(s) needs at least " + std::to_string(least) + " bytes of memory; " +
                    std::to_string(request.memory) + " were given");
  const std::uint64_t block = largest_block(request.memory - budget_reserve);
  return (block - entry.overhead(request.shards)) / request.shards / line_bytes * line_bytes;
}

}  // namespace

const char* kind_name(Kind kind) noexcept {
  constexpr const char* names[] = {"filter", "sketch", "sample"};
  return names[static_cast<int>(kind)];
}

std::span<const StructureInfo* const> catalog() noexcept { return all_infos; }

const StructureEntry* find_entry(std::string_view name) noexcept {
  for (const StructureEntry* entry : all_entries)
    if (name == entry->name) return entry;
  return nullptr;
}

const StructureInfo* find_structure(std::string_view name) noexcept { return find_entry(name); }

Sized size_structure(std::string_view spec, const Request& request) {
  const auto colon = spec.find(':');
  const std::string name(spec.substr(0, colon));
  const StructureEntry* const entry = find_entry(name);
  if (entry == nullptr) {
    std::string list;
    for (const StructureEntry* e : all_entries)
      list += (list.empty() ? "" : ", ") + std::string(e->name);
    throw Error(ErrorCode::Config, "there is no structure '" + name + "'; there are " + list);
  }
  check(request);
  Params params;
  if (colon != std::string_view::npos) params = Params::parse(spec.substr(colon + 1));
  params.require_known(*entry);
  const std::uint64_t bytes = bytes_a_shard(*entry, request);
  entry->complete(params, request, bytes);
  const std::uint64_t payload = entry->payload_bytes(params);
  const std::uint64_t all = payload * request.shards + entry->overhead(request.shards);
  if (request.memory != 0 && payload > bytes)
    throw Error(ErrorCode::Config,
                name + ":" + params.text() + " needs " + std::to_string(all + budget_reserve) +
                    " bytes, more than the budget of " + std::to_string(request.memory));
  return {entry, params, payload, all};
}

StructurePtr make_structure(std::string_view spec, const Request& request) {
  const Sized sized = size_structure(spec, request);
  const Digester digester = request.digester ? *request.digester
                            : request.seed   ? Digester::from_seed(request.hash, *request.seed)
                                             : Digester::random(request.hash);
  std::uint64_t seed = request.seed.value_or(0);
  if (!request.seed) randombytes_buf(&seed, sizeof seed);
  return sized.entry->create(sized.params, Making{request.shards, seed, digester, request.kernel});
}

FilterPtr make_filter(std::string_view spec, const Request& request) {
  return FilterPtr(static_cast<Filter*>(make_of_kind(spec, request, Kind::Filter).release()));
}
SketchPtr make_sketch(std::string_view spec, const Request& request) {
  return SketchPtr(static_cast<Sketch*>(make_of_kind(spec, request, Kind::Sketch).release()));
}
SamplePtr make_sample(std::string_view spec, const Request& request) {
  return SamplePtr(static_cast<Sample*>(make_of_kind(spec, request, Kind::Sample).release()));
}

}  // namespace weir
