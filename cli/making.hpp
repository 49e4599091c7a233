// The flags that make a structure; every subcommand that makes one has the same.
#pragma once

#include <optional>
#include <string>

#include "flags.hpp"
#include "weir/catalog.hpp"

namespace weir::cli {

struct MakingFlags {
  std::string filter = "auto";
  std::uint64_t memory = 256 << 20;
  double fpr = 0.001;
  std::optional<std::uint64_t> keys;
  std::uint32_t shards = 1;
  HashKind hash = HashKind::Xxh3;
  std::optional<std::uint64_t> seed;

  // As they were declared; they know whether they were given, and how it was written.
  const Flag* filter_flag = nullptr;
  const Flag* memory_flag = nullptr;
  const Flag* shards_flag = nullptr;
  const Flag* hash_flag = nullptr;
  const Flag* seed_flag = nullptr;

  void declare(Command& command);
  void declare_hashing(Command& command);  // of it, --hash and --seed
  // Whether the user has left the choice to us.
  [[nodiscard]] bool is_auto() const { return filter == "auto"; }
  [[nodiscard]] StructurePtr make() const;
};

// Refuses when a loaded structure is not what the flags ask for; those never declared ask nothing.
void require_agreement(const Structure& loaded, const MakingFlags& flags, const std::string& file);

}  // namespace weir::cli
