// Parameters as text: "K=2,P=4,Max=1". The command line gives them, snapshots keep them, and
// both come through this one parser.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/catalog.hpp"

namespace weir {

class Params {
 public:
  Params() = default;
  // Throws Error(Config) on a missing '=', an empty name, or a name given twice.
  static Params parse(std::string_view text);

  [[nodiscard]] bool has(std::string_view name) const noexcept;
  // Throws Error(Config) naming the first parameter that `known` does not list.
  void require_known(const StructureInfo& info) const;

  // A value that must be present (complete() fills the gaps), within [least, most].
  [[nodiscard]] std::uint64_t whole(std::string_view name, std::uint64_t least,
                                    std::uint64_t most) const;
  [[nodiscard]] double real(std::string_view name, double least, double most) const;
  // Index into `choices`.
  [[nodiscard]] std::size_t choice(std::string_view name,
                                   std::span<const char* const> choices) const;

  // Inputs that only lead to other parameters (a target FPR that yields k): read and taken out,
  // so that what remains describes the structure. Nothing when not given.
  std::optional<double> take_real(std::string_view name, double least, double most);
  std::optional<std::uint64_t> take_whole(std::string_view name, std::uint64_t least,
                                          std::uint64_t most);
  std::optional<std::size_t> take_choice(std::string_view name,
                                         std::span<const char* const> choices);

  // Sets the value unless the user gave one.
  void fill(std::string_view name, std::uint64_t value);
  void fill(std::string_view name, double value);
  void fill(std::string_view name, std::string_view value);

  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] const std::string& value(std::string_view name) const;
  void erase(std::string_view name);
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace weir
