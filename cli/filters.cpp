// weir filters: the catalogue.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "weir/catalog.hpp"

namespace weir::cli {
namespace {

void print_all() {
  for (const Kind kind : {Kind::Filter, Kind::Sketch, Kind::Sample}) {
    constexpr const char* titles[] = {"Filters: seen before?", "Sketches: how often?",
                                      "Samples: a fair few"};
    fmt::print("{}{}\n", kind == Kind::Filter ? "" : "\n", titles[static_cast<int>(kind)]);
    for (const StructureInfo* info : catalog()) {
      if (info->kind != kind) continue;
      fmt::print("  {:<17} {}\n  {:<17} {}\n  {:<17} {}\n", info->name, info->purpose, "",
                 info->guarantee, "", info->paper);
    }
  }
  fmt::print("\nParameters of one: weir filters NAME\n");
}

void print_one(const std::string& name) {
  const StructureInfo* const info = find_structure(name);
  if (info == nullptr)
    throw Error(ErrorCode::Config,
                "there is no structure '" + name + "'; `weir filters` lists them all");
  fmt::print("{} ({}): {}\nGuarantee: {}\nPaper: {}\n", info->name, kind_name(info->kind),
             info->purpose, info->guarantee, info->paper);
  if (info->weighted) fmt::print("Knows importance.\n");
  fmt::print("\nParameters (of one shard)\n");
  for (const ParameterInfo& p : info->parameters)
    fmt::print("  {:<8} {}\n  {:<8} default: {}\n", p.name, p.meaning, "", p.standard);
}

}  // namespace

void add_filters(CommandLine& line) {
  auto name = std::make_shared<std::string>();
  Command& command = line.command("filters", "List the structures, or the parameters of one");
  command.description = {
      "Without a name it lists every filter, sketch and sample: for what, with which guarantee, "
      "from which paper. With a name it lists the parameters of this one, under the paper's own "
      "letters."};
  command.argument("NAME", *name, "A structure of the list").suggest(structure_names());
  command.examples = {{"weir filters weir", "What can be set of the default filter"}};
  command.run([name] { name->empty() ? print_all() : print_one(*name); });
}

}  // namespace weir::cli
