// What the engine's tests share: files of a test's own, and a run over them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "weir/catalog.hpp"
#include "weir/dedup.hpp"

namespace weir {

class DedupTest : public ::testing::Test {
 protected:
  DedupTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~DedupTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ostringstream content;
    content << std::ifstream(path(name), std::ios::binary).rdbuf();
    return content.str();
  }
  // The main output of a run; the repeats, where asked for, are in the file "repeats".
  std::string run(Structure& structure, DedupOptions options, DedupStats* stats = nullptr) const {
    options.output = path("output");
    const DedupStats done = dedup(structure, options);
    if (stats != nullptr) *stats = done;
    return read("output");
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace weir
