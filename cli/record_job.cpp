#include "record_job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "dedup_report.hpp"
#include "signals.hpp"
#include "sizes.hpp"
#include "weir/error.hpp"

namespace weir::cli {

void RunFlags::declare_output(Command& command) {
  command.file("-o,--output", output, "Write to FILE instead of standard output")
      .more("`-` is standard output. FILE must not be one of the inputs.");
}

void RunFlags::declare_stats(Command& command, const char* contents) {
  command
      .choice("--stats", stats, "FORM", {{"text", "text"}, {"json", "json"}},
              "Say afterwards on stderr what was done")
      .bare("text")
      .more(contents);
  command.toggle("-q,--quiet", quiet, "No warnings, no progress line");
}

void RunFlags::declare_state(Command& command) {
  const Flag& file =
      command.file("--state", state, "Go on from FILE if it is there; save at the end")
          .more(
              "The file is replaced as a whole. A run that fails leaves the state of its last "
              "save. "
              "Options that say how the state is made can be left out when it is there; those that "
              "are given must agree with it.")
          .more(
              "With a state, SIGINT and SIGTERM stop the run in order: the state is saved, then "
              "the process ends by that signal. A second one ends it at once, without saving.");
  command.value("--save-every", save_every, "WHEN", "Save this often, too: 30s, 5min, 1000000")
      .needs(file)
      .more(
          "A time in `s`, `min`, `h` or `d`; or a number of records, which can have `K`, `M` or "
          "`G` (here thousands, millions and thousand millions).");
}

StructurePtr load_finished(const std::string& file) {
  std::optional<JobState> job;
  StructurePtr structure = load(file, nullptr, &job);
  if (job && !job->complete)
    throw Error(ErrorCode::Config,
                file +
                    " belongs to a job of weir dedup that is not finished; finish it, or choose "
                    "another state file");
  if (job && job->window)
    throw Error(ErrorCode::Config,
                file + " has a window, whose clock only weir dedup can go on with");
  return structure;
}

StructurePtr load_if_there(const std::string& file) {
  std::error_code error;
  const bool there = !file.empty() && std::filesystem::exists(file, error);
  if (error) throw Error(ErrorCode::Io, "cannot look at " + file + ": " + error.message());
  return there ? load_finished(file) : nullptr;
}

DedupStats run_records(Structure& structure, DedupOptions options, const RunFlags& flags) {
  if (!flags.save_every.empty() && !options.state.empty()) {
    const Interval interval = parse_interval(flags.save_every);
    options.save_seconds = interval.seconds, options.save_records = interval.records;
  }
  ProgressLine progress;
  const bool silent = options.emit == Emit::Nothing || !options.output.empty();
  if (!flags.quiet && ::isatty(STDERR_FILENO) != 0 && (silent || ::isatty(STDOUT_FILENO) == 0))
    options.progress = [&](const DedupStats& stats) { progress.show(stats); };
  std::optional<StopOnSignal> signals;
  if (!options.state.empty()) {
    signals.emplace();
    options.stop_fd = signals->fd();
  }
  DedupStats stats;
  try {
    stats = dedup(structure, options);
  } catch (...) {
    progress.clear();
    throw;
  }
  progress.clear();
  if (stats.bad > 0 && !flags.quiet)
    fmt::print(stderr, "weir: warning: {} record{} without a key; the first: {}\n",
               show_count(stats.bad), stats.bad == 1 ? "" : "s", stats.first_bad);
  if (stats.stopped) {
    if (!flags.quiet)
      fmt::print(stderr, "weir: stopped by a signal after {} record{}; the state is saved\n",
                 show_count(stats.records), stats.records == 1 ? "" : "s");
    signals->end_by_it();
  }
  return stats;
}

void print_counting_stats(const Structure& structure, const DedupStats& stats,
                          std::uint64_t occurrences, bool json, const std::string& own) {
  const double rate = static_cast<double>(stats.records) / std::max(stats.seconds, 1e-9);
  if (json)
    fmt::print(stderr,
               "{{\"structure\":\"{}\",\"parameters\":\"{}\",\"memory\":{},\"records\":{},"
               "\"bytes\":{},\"bad\":{},\"occurrences\":{},{},\"seconds\":{:.6f},"
               "\"records_per_second\":{:.0f}}}\n",
               structure.info().name, structure.parameters(), structure.memory(), stats.records,
               stats.bytes, stats.bad, occurrences, own, stats.seconds, rate);
  else
    fmt::print(stderr,
               "structure    {}:{}\n"
               "memory       {}\n"
               "records      {} ({})\n"
               "bad          {}\n"
               "occurrences  {} in all\n"
               "{}"
               "time         {:.2f} s, {:.1f} million records/s\n",
               structure.info().name, structure.parameters(), show_bytes(structure.memory()),
               show_count(stats.records), show_bytes(stats.bytes), show_count(stats.bad),
               show_count(occurrences), own, stats.seconds, rate / 1e6);
}

}  // namespace weir::cli
