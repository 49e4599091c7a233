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

// A forged date may be one that no calendar has.
std::string show_date(std::int64_t seconds) {
  try {
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
  } catch (const fmt::format_error&) {
    return "at an impossible date";
  }
}

void print_state(const std::string& file) {
  SnapshotInfo snapshot;
  const StructurePtr structure = load(file, &snapshot);
  const StructureInfo& info = structure->info();
  const Health health = structure->health();
  const double age =
      static_cast<double>(std::time(nullptr)) - static_cast<double>(snapshot.saved_at);
  fmt::print(
      "structure   {} ({}): {}\n"
      "parameters  {}\n"
      "shards      {}\n"
      "hash        {}\n"
      "memory      {} when loaded, {} on disk\n"
      "saved       {}, {} (format {})\n"
      "records     {}\n",
      info.name, kind_name(info.kind), info.purpose, structure->parameters(), structure->shards(),
      structure->digester().kind() == HashKind::Xxh3 ? "XXH3-64" : "SipHash-2-4",
      show_bytes(structure->memory()), show_bytes(snapshot.bytes), show_date(snapshot.saved_at),
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
