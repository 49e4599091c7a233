// weir dedup: lines in, first ones out.
#include "weir/dedup.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "commands.hpp"
#include "making.hpp"
#include "sizes.hpp"
#include "weir/snapshot.hpp"

namespace weir::cli {
namespace {

struct Flags {
  MakingFlags making;
  std::vector<std::string> files;
  std::string state;
  bool mark = false, stats = false, quiet = false;
};

FilterPtr open_filter(const Flags& flags) {
  std::error_code ignored;
  if (flags.state.empty() || !std::filesystem::exists(flags.state, ignored))
    return flags.making.make();
  FilterPtr loaded = load_filter(flags.state);
  require_agreement(*loaded, flags.making, flags.state);
  return loaded;
}

void print_stats(const Filter& filter, const DedupStats& stats) {
  const Health health = filter.health();
  const double seconds = std::max(stats.seconds, 1e-9);
  fmt::print(stderr,
             "filter      {}:{}\n"
             "memory      {}\n"
             "records     {} ({})\n"
             "first       {}\n"
             "repeats     {}\n"
             "fill        {}\n"
             "live FPR    {}\n"
             "time        {:.2f} s, {:.1f} million records/s, {}/s\n",
             filter.info().name, filter.parameters(), show_bytes(filter.memory()),
             show_count(stats.records), show_bytes(stats.bytes), show_count(stats.first),
             show_count(stats.repeats), show_percent(health.fill), show_percent(health.fpr),
             stats.seconds, static_cast<double>(stats.records) / seconds / 1e6,
             show_bytes(static_cast<std::uint64_t>(static_cast<double>(stats.bytes) / seconds)));
}

void run_dedup(const Flags& flags) {
  const FilterPtr filter = open_filter(flags);
  DedupOptions options;
  if (!flags.files.empty()) options.inputs = flags.files;
  options.mark = flags.mark;
  const DedupStats stats = dedup(*filter, options);
  if (!flags.state.empty()) {
    // A pipe or terminal cannot be synced; for a file the state must not be ahead of it.
    if (::fsync(options.output) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
      throw Error(ErrorCode::Io, std::string("cannot sync the output: ") + std::strerror(errno));
    save(*filter, flags.state);
  }
  if (flags.stats) print_stats(*filter, stats);
  const double live = filter->health().fpr;
  if (!flags.quiet && live > 1.1 * flags.making.fpr)
    fmt::print(stderr,
               "weir: warning: {} of new records are now taken for repeats, more than --fpr {}; "
               "give more memory (-S) or choose a filter that forgets (weir filters)\n",
               show_percent(live), flags.making.fpr);
}

}  // namespace

void add_dedup(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  Command& command = line.command("dedup", "Pass on the first of equal lines, in order");
  command.description = {
      "Reads lines and writes each one that did not come before, in the order of the input and in "
      "memory that does not grow with the stream.",
      "The answer is probable, not certain. A new line is taken for a repeat, and dropped, at "
      "about the rate of `--fpr`; a filter that forgets lets old repeats through. If no line may "
      "ever be lost, use `--mark` and decide yourself."};
  command.argument("FILE", flags->files, "Input files in order; - or none is standard input").hint =
      Hint::File;
  command.group("Output");
  command.toggle("--mark", flags->mark, "Write every line, behind 0<TAB> if new, 1<TAB> if seen");
  command.toggle("--stats", flags->stats, "Say afterwards on stderr what was done");
  command.toggle("-q,--quiet", flags->quiet, "No warnings");
  command.group("State");
  command.file("--state", flags->state, "Go on from FILE if it is there, and save there at the end")
      .more(
          "The state is saved when the output is written, never before. The options that make "
          "the filter can be left out with a state; those that are given must agree with it.");
  flags->making.declare(command);
  command.examples = {
      {"weir dedup -S 64M big.log", "Drop repeated lines, in 64 MiB"},
      {"weir dedup --state seen.weir today.log", "Pass on what no earlier run has seen"},
      {"weir dedup -f blocked-bloom -n 10M urls.txt",
       "Forget nothing, for a known number of keys"}};
  command.sections = {{"FILES",
                       {"A state file holds the filter and the secret of its hash, so it is made "
                        "readable for its owner only. `weir inspect` tells what is in it."}}};
  command.see_also = "sort(1), uniq(1)";
  command.run([flags] { run_dedup(*flags); });
}

}  // namespace weir::cli
