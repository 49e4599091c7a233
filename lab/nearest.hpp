// Names that were meant, for a name that does not exist.
#pragma once

#include <string>
#include <vector>

namespace weir::lab {

// Up to three of the names with the fewest edits from `written`, as "a or b".
std::string nearest(const std::string& written, const std::vector<std::string>& names);

}  // namespace weir::lab
