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

void add_dedup(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App& sub = *app.add_subcommand("dedup", "Pass on the first of equal lines, in order");
  flags->making.define(sub);
  sub.add_flag("--mark", flags->mark,
               "Write every line, with 0<TAB> (new) or 1<TAB> (seen) in front");
  sub.add_flag("--stats", flags->stats, "Say afterwards on stderr what was done");
  sub.add_option("--state", flags->state,
                 "State file: loaded if it is there, saved when the output is written");
  sub.add_flag("-q,--quiet", flags->quiet, "No warnings");
  sub.add_option("FILE", flags->files, "Input files in order; - or none is standard input");
  sub.callback([flags] { run_dedup(*flags); });
}

}  // namespace weir::cli
