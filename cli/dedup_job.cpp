#include "dedup_job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "core/params.hpp"
#include "dedup_report.hpp"
#include "signals.hpp"
#include "sizes.hpp"

namespace weir::cli {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

DedupOptions to_options(const DedupFlags& flags) {
  DedupOptions options = record_options(flags, !flags.importance.empty() || !flags.time.empty());
  options.key.importance = flags.importance;
  options.key.time = flags.time;
  if (flags.importance_max) options.key.importance_max = *flags.importance_max;
  if (flags.mark) options.emit = Emit::Mark;
  if (flags.repeats) options.emit = Emit::Repeats;
  if (flags.count) options.emit = flags.repeats ? Emit::CountRepeats : Emit::Count;
  options.output = flags.output == "-" ? "" : flags.output;
  options.repeats_file = flags.repeats_file;
  if (flags.repeats_file == "-") refuse("-D needs a file; -d writes the repeats to the output");

  options.state = flags.state;
  options.read_only = flags.read_only;
  options.resume = flags.resume;
  if (flags.resume) options.save_seconds = 60;
  if (!flags.save_every.empty()) {
    const Interval interval = parse_interval(flags.save_every);
    options.save_seconds = interval.seconds, options.save_records = interval.records;
  }
  if (flags.max_fpr) {
    if (!(*flags.max_fpr > 0 && *flags.max_fpr < 1))
      refuse("--max-fpr must be above 0 and below 1");
    options.max_fpr = *flags.max_fpr;
  }
  return options;
}

struct Opened {
  StructurePtr structure;
  std::optional<JobState> job;
  std::optional<Window> window;
};

// What other flags say about the structure.
MakingFlags making_of(const DedupFlags& flags) {
  MakingFlags making = flags.making;
  std::string& spec = making.filter;
  if (flags.count && making.is_auto()) spec = "count-min";
  std::optional<std::uint32_t> imax = flags.importance_max;
  if (making.is_auto() && !flags.importance.empty()) {
    spec = "weir";
    if (!imax) imax = 7;  // its own default ignores importance
  }
  if (imax && spec.find("imax=") == std::string::npos)
    spec += fmt::format("{}imax={}", spec.find(':') == std::string::npos ? ':' : ',', *imax);
  return making;
}

// The structure from the state file, if it is there, or a new one.
Opened open_structure(const DedupFlags& flags) {
  std::error_code error;
  const bool there = !flags.state.empty() && std::filesystem::exists(flags.state, error);
  if (error) throw Error(ErrorCode::Io, "cannot look at " + flags.state + ": " + error.message());
  if (!there) {
    if (flags.read_only && !flags.state.empty())
      throw Error(ErrorCode::Io,
                  "cannot open " + flags.state + ": there is no such file to look things up in");
    Opened made;
    made.window = window_of(flags.window, !flags.time.empty());
    if (made.window && flags.count) refuse("-c counts all that came, whatever the window");
    made.structure = made.window ? make_for_window(*made.window, flags.window, making_of(flags))
                                 : making_of(flags).make();
    return made;
  }
  Opened opened;
  opened.structure = load(flags.state, nullptr, &opened.job);
  if (opened.job) opened.window = opened.job->window;
  require_agreement(*opened.structure, flags.making.is_auto() ? flags.making : making_of(flags),
                    flags.state);
  require_window(opened.window, *opened.structure, flags.window, !flags.time.empty(), flags.state);
  return opened;
}

// Where an earlier run of this very job stopped. A finished job leaves its structure to the next.
// True: nothing is left to do.
bool find_position(const DedupFlags& flags, const std::optional<JobState>& job,
                   DedupOptions& options) {
  if (!job) return false;
  const bool same = options.resume && job->job == describe_job(options);
  if (same && job->complete) {
    if (inputs_changed(*job, options))
      throw Error(ErrorCode::Io,
                  flags.state +
                      " says that this job is complete, but its inputs have changed since; "
                      "for the new ones write to another file (-o)");
    return true;
  }
  if (!job->complete && !options.read_only) {
    if (!options.resume)
      refuse(flags.state +
             " belongs to a job that is not finished; run that job again with "
             "--resume, or choose another state file");
    if (!same)
      refuse(flags.state + " belongs to another job that is not finished: " + job->job +
             "; finish it, or choose another state file");
  }
  if (same) options.position = job;
  return false;
}

void warn_of_fpr(double live, double wanted, const StructureInfo& info, bool windowed) {
  fmt::print(stderr,
             "weir: warning: {} of new records are now taken for repeats, more than --fpr {}; "
             "give more memory (-S) or {}\n",
             show_percent(live), wanted,
             windowed       ? "a shorter window"
             : info.forgets ? fmt::format("other parameters (weir filters {})", info.name)
                            : "choose a filter that forgets (weir filters)");
}

void warn_of_bad(const DedupStats& stats, const DedupOptions& options) {
  const bool shown = options.on_bad == OnBad::Pass && options.emit != Emit::Repeats &&
                     options.emit != Emit::CountRepeats;
  fmt::print(stderr, "weir: warning: {} record{} without a key, {}; the first: {}\n",
             show_count(stats.bad), stats.bad == 1 ? "" : "s",
             !shown           ? "left out"
             : stats.bad == 1 ? "passed on as it is"
                              : "passed on as they are",
             stats.first_bad);
}

}  // namespace

void run_dedup(const DedupFlags& flags) {
  DedupOptions options = to_options(flags);
  Opened opened = open_structure(flags);
  options.window = opened.window;
  if (find_position(flags, opened.job, options)) {
    if (!flags.quiet)
      fmt::print(stderr, "weir: {} says that this job is complete; nothing is left to do\n",
                 flags.state);
    return;
  }

  ProgressLine progress;
  const bool terminal =
      ::isatty(STDERR_FILENO) != 0 && (!options.output.empty() || ::isatty(STDOUT_FILENO) == 0);
  if (terminal && !flags.quiet)
    options.progress = [&](const DedupStats& stats) { progress.show(stats); };
  if (!flags.quiet) {
    options.warn_fpr = 1.1 * flags.making.fpr;  // a filter that holds its FPR wavers about it
    options.warn = [&](double live) {
      progress.clear();
      warn_of_fpr(live, flags.making.fpr, opened.structure->info(), opened.window.has_value());
    };
  }
  // With a state a signal is a request to stop in order; without one there is nothing to save.
  std::optional<StopOnSignal> signals;
  if (!options.state.empty() && !options.read_only) {
    signals.emplace();
    options.stop_fd = signals->fd();
  }
  DedupStats stats;
  try {
    stats = dedup(*opened.structure, options);
  } catch (...) {
    progress.clear();
    throw;
  }
  progress.clear();
  if (!flags.stats.empty()) print_stats(*opened.structure, stats, flags.stats == "json");
  if (stats.bad > 0 && !flags.quiet) warn_of_bad(stats, options);
  if (stats.over_max_fpr)
    throw Error(ErrorCode::BadInput,
                fmt::format("stopped after {} records: {} of new records would be taken for "
                            "repeats, more than --max-fpr {}; the output so far is good",
                            show_count(stats.records), show_percent(opened.structure->health().fpr),
                            *flags.max_fpr));
  if (stats.stopped) {
    if (!flags.quiet)
      fmt::print(stderr, "weir: stopped by a signal after {} record{}; the state is saved\n",
                 show_count(stats.records), stats.records == 1 ? "" : "s");
    signals->end_by_it();
  }
}

}  // namespace weir::cli
