// weir inspect: what a state file holds, without the stream.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "dedup_window.hpp"
#include "sample/record_sampler.hpp"
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

void print_job(const JobState& job) {
  fmt::print("job         {}, {} records in, {} out\n",
             job.complete ? "complete" : "not finished, --resume goes on with it",
             show_count(job.records), show_bytes(job.output_bytes));
  if (!job.complete)
    fmt::print("position    input {}, byte {}\n", job.input + 1, show_count(job.offset));
  // A name may hold anything; a terminal must not obey it.
  std::string_view rest = job.job;
  while (!rest.empty()) {
    std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    for (char& c : line)
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
    fmt::print("            {}\n", line);
  }
}

void print_window(const Window& window, const Structure& structure) {
  fmt::print("window      {}; {}\n", show_window(window), show_reach(window, structure));
  if (window.clock != Window::Clock::Records && window.started)
    fmt::print("clock       {}\n", show_date(window.now / 1'000'000));
}

void print_sample(const std::string& file) {
  const RecordSampler sample = RecordSampler::load(file);
  std::uint64_t bytes = 0;
  for (const RecordSampler::Held& held : sample.held()) bytes += held.record.size();
  static constexpr const char* ways[] = {"uniform", "recent records likelier", "by weight",
                                         "of distinct keys"};
  fmt::print(
      "structure   sample of records, {}\n"
      "records     {}\n"
      "held        {} of at most {}, {}\n",
      ways[static_cast<std::size_t>(sample.way())], show_count(sample.met()),
      show_count(sample.held().size()), show_count(sample.capacity()), show_bytes(bytes));
  if (sample.way() == RecordSampler::Way::Recent)
    fmt::print("half-life   {} records\n", sample.half_life());
}

void print_state(const std::string& file) {
  if (RecordSampler::is_saved_at(file)) return print_sample(file);
  SnapshotInfo snapshot;
  std::optional<JobState> job;
  const StructurePtr structure = load(file, &snapshot, &job);
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
  if (job && job->window) print_window(*job->window, *structure);
  if (job && !job->job.empty()) print_job(*job);
}

}  // namespace

void add_inspect(CommandLine& line) {
  auto file = std::make_shared<std::string>();
  Command& command = line.command("inspect", "Say what a state file holds, its health and its age");
  command.description = {
      "Loads a state file, which proves it whole and valid, and says which structure it holds, "
      "how much that has seen, and how full it is."};
  command.argument("FILE", *file, "State file").require().hint = Hint::File;
  command.examples = {{"weir inspect seen.weir", "What is in a state of weir dedup"}};
  command.run([file] { print_state(*file); });
}

}  // namespace weir::cli
