// How every state gets to the disk and back: replaced as a whole, and read without trust.
#pragma once

#include <filesystem>
#include <functional>

#include "weir/snapshot.hpp"

namespace weir {

// A temporary file beside it (mode 0600), fsync, rename, fsync of the folder. On failure, that of
// `write` included, the old file stays as it was. Throws Error(Io). `dress` may give the complete
// file, by its descriptor, another mode or owner.
void replace_file(const std::filesystem::path& path, const std::function<void(ByteSink&)>& write,
                  const std::function<void(int fd)>& dress = {});

// Refuses what is not a file; an Error(BadState) of `read` gets the file's name in front.
void read_file(const std::filesystem::path& path, const std::function<void(ByteSource&)>& read);

}  // namespace weir
