// weir inspect: what a state file holds, without the stream.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <memory>

#include "commands.hpp"
#include "sizes.hpp"
#include "weir/snapshot.hpp"

namespace weir::cli {
namespace {

void print_state(const std::string& file) {
  SnapshotInfo snapshot;
  const StructurePtr structure = load(file, &snapshot);
  const StructureInfo& info = structure->info();
  const Health health = structure->health();
  const auto age = static_cast<double>(std::time(nullptr) - snapshot.saved_at);
  fmt::print(
      "structure   {} ({}): {}\n"
      "parameters  {}\n"
      "shards      {}\n"
      "hash        {}\n"
      "memory      {} when loaded, {} on disk\n"
      "saved       {:%Y-%m-%d %H:%M:%S} UTC, {} ago (format {})\n"
      "records     {}\n",
      info.name, kind_name(info.kind), info.purpose, structure->parameters(), structure->shards(),
      structure->digester().kind() == HashKind::Xxh3 ? "XXH3-64" : "SipHash-2-4",
      show_bytes(structure->memory()), show_bytes(snapshot.bytes), fmt::gmtime(snapshot.saved_at),
      show_age(age), snapshot.version, show_count(health.records));
  if (info.kind != Kind::Sample) fmt::print("repeats     {}\n", show_count(health.seen));
  fmt::print("fill        {}\n", show_percent(health.fill));
  if (info.kind != Kind::Sample)
    fmt::print("live FPR    {} of keys never met would be taken for known\n",
               show_percent(health.fpr));
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  CLI::App& sub =
      *app.add_subcommand("inspect", "Say what a state file holds, its health and its age");
  sub.add_option("FILE", *file, "State file")->required();
  sub.callback([file] { print_state(*file); });
}

}  // namespace weir::cli
