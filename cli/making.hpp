// The flags that make a structure; every subcommand that makes one has the same.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "weir/catalog.hpp"

namespace weir::cli {

struct MakingFlags {
  std::string filter = "stable";
  std::string memory = "256M";
  double fpr = 0.001;
  std::string keys;
  std::uint32_t shards = 1;
  std::string hash = "xxh3";
  std::string seed;

  CLI::Option* filter_given = nullptr;
  CLI::Option* memory_given = nullptr;
  CLI::Option* shards_given = nullptr;
  CLI::Option* hash_given = nullptr;

  void define(CLI::App& app);
  [[nodiscard]] StructurePtr make() const;
};

// Refuses when a loaded structure is not what the flags ask for.
void require_agreement(const Structure& loaded, const MakingFlags& flags, const std::string& file);

}  // namespace weir::cli
