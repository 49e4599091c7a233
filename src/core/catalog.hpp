// The catalogue's inner side: every structure's entry, declared from the one list.
#pragma once

#include "core/structure.hpp"

namespace weir {

#define WEIR_STRUCTURE(symbol) extern const StructureEntry structure_##symbol;
#include "core/structures.def"
#undef WEIR_STRUCTURE

// Null when there is no such name.
const StructureEntry* find_entry(std::string_view name) noexcept;

// A structure as it would be made. Throws what make_structure() throws.
struct Sized {
  const StructureEntry* entry;
  Params params;          // all of them
  std::uint64_t payload;  // bytes of the cells of one shard
  std::uint64_t bytes;    // of all, as Structure::memory() will say
};
Sized size_structure(std::string_view spec, const Request& request);

}  // namespace weir
