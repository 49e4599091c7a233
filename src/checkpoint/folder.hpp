// Makes the name of a file last, as fsync does its content.
#pragma once

#include <filesystem>

namespace weir {

// Throws Error(Io).
void sync_folder_of(const std::filesystem::path& file);

}  // namespace weir
