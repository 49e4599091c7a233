// The real key streams that lie beside the project where it is developed; they are not shipped.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace weir::test {

// The lines of NAME.xz, newline included; empty where folder or file are missing. The folder is
// $WEIR_SHARED_DATA, or ../shared/data beside the source.
inline std::vector<std::string> real_lines(const std::string& name) {
  const char* const given = std::getenv("WEIR_SHARED_DATA");
  const auto folder = given != nullptr
                          ? std::filesystem::path(given)
                          : std::filesystem::path(WEIR_SOURCE_DIR) / ".." / "shared" / "data";
  const auto file = folder / (name + ".xz");
  std::vector<std::string> lines;
  if (!std::filesystem::exists(file)) return lines;
  std::FILE* const pipe = ::popen(("xz -dc '" + file.string() + "'").c_str(), "r");
  if (pipe == nullptr) return lines;
  char line[256];
  while (std::fgets(line, sizeof line, pipe) != nullptr) lines.emplace_back(line);
  ::pclose(pipe);
  return lines;
}
inline std::vector<std::string> real_stream(const std::string& name) {
  return real_lines(name + ".keys");
}

}  // namespace weir::test
