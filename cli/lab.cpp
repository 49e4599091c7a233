// weir lab: experiments, by name.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>

#include "commands.hpp"
#include "core/memory.hpp"
#include "experiment.hpp"
#include "gnuplot.hpp"
#include "report.hpp"
#include "runner.hpp"
#include "text.hpp"
#include "weir/error.hpp"
#include "weir_version.hpp"

namespace weir::cli {
namespace {

struct LabFlags {
  std::vector<std::string> words;
  std::string out;
  lab::Setting setting;
  std::uint32_t repeat = 3, threads = std::max(1u, std::thread::hardware_concurrency());
  std::optional<double> scale;
  std::string records, bits, fprs;  // of compare
};

// "2,4,8"
std::vector<double> numbers_of(const std::string& list, const char* flag) {
  std::vector<double> numbers;
  for (const std::string& item : split(list, ',')) {
    double value = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (error != std::errc{} || end != item.data() + item.size())
      throw Error(ErrorCode::Config,
                  fmt::format("{} takes numbers separated by commas, not '{}'", flag, list));
    numbers.push_back(value);
  }
  return numbers;
}

lab::Setting setting_for(const LabFlags& flags, const lab::Experiment& experiment) {
  lab::Setting setting = flags.setting;
  setting.repeat = flags.repeat;
  setting.scale = flags.scale.value_or(experiment.default_scale);
  if (!flags.bits.empty()) setting.bits_a_key = numbers_of(flags.bits, "--bits");
  if (!flags.fprs.empty()) setting.fprs = numbers_of(flags.fprs, "--fpr");
  if (!flags.records.empty()) {
    setting.records = parse_interval(flags.records).records;
    if (setting.records == 0)
      throw Error(ErrorCode::Config, "--records takes a number of records, as in --records 10M");
  }
  return setting;
}

std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

// At 90 columns, between words.
void print_wrapped(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && lab::letters(line) + 1 + lab::letters(word) > 90)
      fmt::print("{}\n", line), line.clear();
    line += (line.empty() ? "" : " ") + word;
  }
  fmt::print("{}\n", line);
}

void list(const LabFlags& flags) {
  lab::Table table{"", {"name", "takes", "scale", "what it shows"}, {}};
  bool all = true;
  for (const auto& experiment : lab::experiments()) {
    const auto setting = setting_for(flags, experiment);
    std::string time = "-";
    try {
      time = duration(lab::seconds_here(experiment, setting) / flags.threads);
    } catch (const Error&) {
      all = false;
    }
    table.add({experiment.name, time, lab::number(setting.scale), experiment.what});
  }
  table.print(stdout);
  fmt::print("\n");
  print_wrapped(fmt::format(
      "Times are for this machine, with {} thread{} (-j) and {} seed{} (--repeat); at a scale of 1 "
      "(--scale) everything has the papers' size. {}",
      flags.threads, flags.threads == 1 ? "" : "s", flags.repeat, flags.repeat == 1 ? "" : "s",
      all ? "" : "Those without a time need a stream (--trace) or another scale."));
}

void show_progress(const std::string& name, const lab::Progress& progress) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{}: {} of {} parts, {} left", name, progress.done, progress.all,
             duration(progress.seconds_left));
  if (progress.done == progress.all) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

// The line that makes this section again; -j is not in it, since nothing depends on it.
std::string command_of(const LabFlags& flags, const lab::Experiment& experiment,
                       const lab::Setting& setting) {
  std::string line = "weir lab run " + experiment.name;
  line += fmt::format(" --scale {:g} --repeat {}", setting.scale, setting.repeat);
  for (const std::string& trace : setting.traces) line += " --trace " + lab::shell_quoted(trace);
  for (const std::string& spec : setting.filters) line += " --filter " + lab::shell_quoted(spec);
  for (const std::string& spec : setting.streams) line += " --stream " + lab::shell_quoted(spec);
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) line += fmt::format(" {} {}", flag, lab::shell_quoted(value));
  };
  add("--records", flags.records), add("--bits", flags.bits), add("--fpr", flags.fprs);
  return line + " --out " + lab::shell_quoted(flags.out);
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

void keep(const LabFlags& flags, const lab::Experiment& experiment, const lab::Setting& setting,
          const lab::Section& section) {
  const std::string seeds = setting.repeat == 1 ? "1" : fmt::format("1 to {}", setting.repeat);
  lab::keep_section(flags.out,
                    {experiment.name,
                     command_of(flags, experiment, setting),
                     {{"scale", fmt::format("{:g} of the full size", setting.scale)},
                      {"seeds", seeds},
                      {"machine", lab::machine()},
                      {"made", now() + ", weir " + version}}},
                    section);
}

// Before hours of work: what would only be found out at their end.
void check(const LabFlags& flags, const std::vector<const lab::Experiment*>& chosen) {
  for (const lab::Experiment* experiment : chosen)
    experiment->parts(setting_for(flags, *experiment));
  if (flags.out.empty()) return;
  lab::gnuplot("");
  std::error_code error;
  std::filesystem::create_directories(flags.out, error);
  if (!error && ::access(flags.out.c_str(), W_OK) != 0)
    error = std::error_code(errno, std::generic_category());
  if (error)
    throw Error(ErrorCode::Io,
                "cannot write into the folder " + flags.out + ": " + error.message());
}

void run_lab(LabFlags& flags) {
  if (flags.words.empty() || (flags.words[0] != "run" && flags.words[0] != "list"))
    throw Error(ErrorCode::Config, "say `weir lab list` or `weir lab run NAME...`");
  if (flags.scale && !(*flags.scale > 0 && *flags.scale <= 1))
    throw Error(ErrorCode::Config, "--scale must be above 0 and at most 1");
  if (flags.words[0] == "list") return list(flags);
  if (flags.words.size() < 2)
    throw Error(ErrorCode::Config, "name an experiment to run; `weir lab list` shows all");
  std::vector<const lab::Experiment*> chosen;
  for (std::size_t i = 1; i < flags.words.size(); ++i)
    chosen.push_back(&lab::find_experiment(flags.words[i]));
  check(flags, chosen);
  std::vector<std::string> order;
  for (const lab::Experiment& experiment : lab::experiments()) order.push_back(experiment.name);
  std::string report;
  for (const lab::Experiment* experiment : chosen) {
    const lab::Setting setting = setting_for(flags, *experiment);
    const lab::Results results = lab::run_parts(
        *experiment, setting,
        {flags.out, flags.threads, memory_of_this_machine(),
         [&](const lab::Progress& progress) { show_progress(experiment->name, progress); }});
    const lab::Section section = experiment->present(setting, results);
    fmt::print("{}\n", section.title);
    for (const std::string& paragraph : section.text) fmt::print("\n"), print_wrapped(paragraph);
    for (const lab::Table& table : section.tables) fmt::print("\n"), table.print(stdout);
    fmt::print("\n");
    if (flags.out.empty()) continue;
    // After each, so that there is something to look at before the last is done.
    keep(flags, *experiment, setting, section);
    report = lab::write_report(flags.out, order);
  }
  std::fflush(stdout);
  if (!report.empty()) fmt::print(stderr, "report: {}\n", report);
}

}  // namespace

void add_lab(CommandLine& line) {
  auto flags = std::make_shared<LabFlags>();
  Command& command = line.command("lab", "Run experiments: the papers' streams, comparisons");
  command.description = {
      "`weir lab list` says which experiments there are and how long each takes here; `weir lab "
      "run NAME...` runs them and prints their tables.",
      "With `--out` everything is kept in DIR: each measurement as it is made, so that a run that "
      "was interrupted goes on where it stopped; the charts; and report.html, one page with text, "
      "tables and charts of all experiments that DIR holds. Charts need gnuplot."};
  std::vector<std::string> words = {"run", "list"};
  for (const lab::Experiment& experiment : lab::experiments()) words.emplace_back(experiment.name);
  command.argument("WORD", flags->words, "run NAME..., or list").suggest(words);
  command.folder("--out", flags->out, "Keep results, charts and report.html in DIR")
      .more(
          "DIR/NAME.csv has one row a measurement, DIR/CHART.svg is a chart, DIR/report.html shows "
          "all in order. Parts that a run before has kept there for the same setting are not run "
          "again.");
  command.value("-j,--threads", flags->threads, "N", "Threads; results do not depend on them")
      .between(1, 1024)
      .shown_as("all cores");
  command.file("--trace", flags->setting.traces, "Stream of keys, one a line; may be repeated");
  command.value("--filter", flags->setting.filters, "SPEC", "Only this filter; may be repeated")
      .suggest(structure_names(Kind::Filter));
  command.value("--repeat", flags->repeat, "N", "Seeds that each figure is the mean of")
      .between(1, 1000);
  command.value("--scale", flags->scale, "X", "Part of the papers' sizes, 1 is full")
      .shown_as("by experiment")
      .more(
          "Records, keys and memory are all taken by this factor: the errors depend on their "
          "ratios only.");
  command.group("Of compare");
  std::vector<std::string> laws;
  for (const lab::StreamLaw& law : lab::stream_laws()) laws.push_back(std::string(law.name) + ":");
  command
      .value("--stream", flags->setting.streams, "SPEC",
             "Stream by law, as in `weir generate`; may be repeated")
      .suggest(laws)
      .more(
          "A law is drawn anew for every seed. Files with fields: `trace:file=F,key=1,weight=2`.");
  command.value("--records", flags->records, "N", "Records of each; takes K, M, G of thousands")
      .shown_as("1M, all of a file");
  command.value("--bits", flags->bits, "LIST", "Memory in bits a distinct key").shown_as("2,4,8");
  command.value("--fpr", flags->fprs, "LIST", "FPRs to keep").shown_as("0.01,0.001");
  command.examples = {{"weir lab run distances --out results", "Then open results/report.html"},
                      {"weir lab run weir-tables --scale 0.001", "The papers' rows, in a minute"},
                      {"weir lab run compare --trace keys.txt", "Every filter on your own keys"},
                      {"weir lab run compare --stream zipf:U=1e6,s=0.8 --bits 1,2,4,8,16",
                       "Every filter on a stream of a stated law"}};
  command.run([flags] { run_lab(*flags); });
}

}  // namespace weir::cli
