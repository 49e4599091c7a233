// The catalogue's inner side: every structure's entry, declared from the one list.
#pragma once

#include "core/structure.hpp"

namespace weir {

#define WEIR_STRUCTURE(symbol) extern const StructureEntry structure_##symbol;
#include "core/structures.def"
#undef WEIR_STRUCTURE

// Null when there is no such name.
const StructureEntry* find_entry(std::string_view name) noexcept;

}  // namespace weir
