// weir lab: experiments, by name.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <thread>

#include "commands.hpp"
#include "core/memory.hpp"
#include "experiment.hpp"
#include "runner.hpp"
#include "weir/error.hpp"

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
  for (const std::string& item : CLI::detail::split(list, ',')) {
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

void list(const LabFlags& flags) {
  std::size_t width = 0;
  for (const auto& experiment : lab::experiments()) width = std::max(width, experiment.name.size());
  for (const auto& experiment : lab::experiments()) {
    std::string time = "depends on the trace";
    try {
      const auto setting = setting_for(flags, experiment);
      time = duration(lab::seconds_here(experiment, setting) / flags.threads);
    } catch (const Error&) {  // it needs a trace, or another scale
    }
    fmt::print("{:<{}}  {} ({})\n", experiment.name, width, experiment.what, time);
  }
}

void show_progress(const std::string& name, const lab::Progress& progress) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{}: {} of {} parts, {} left", name, progress.done, progress.all,
             duration(progress.seconds_left));
  if (progress.done == progress.all) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
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
  for (const lab::Experiment* experiment : chosen) {
    const lab::Setting setting = setting_for(flags, *experiment);
    const lab::Results results = lab::run_parts(
        *experiment, setting,
        {flags.out, flags.threads, memory_of_this_machine(),
         [&](const lab::Progress& progress) { show_progress(experiment->name, progress); }});
    const lab::Section section = experiment->present(setting, results);
    fmt::print("{}\n", section.title);
    for (const std::string& paragraph : section.text) fmt::print("{}\n", paragraph);
    for (const lab::Table& table : section.tables) fmt::print("\n"), table.print(stdout);
    fmt::print("\n");
  }
}

}  // namespace

void add_lab(CommandLine& line) {
  auto flags = std::make_shared<LabFlags>();
  Command& command = line.command("lab", "Run experiments: the papers' streams, comparisons");
  command.description = {
      "`weir lab list` says which experiments there are and how long each takes here; `weir lab "
      "run NAME...` runs them and prints their tables. With `--out` every measurement is kept in "
      "DIR as it is made: a run that was interrupted goes on where it stopped."};
  std::vector<std::string> words = {"run", "list"};
  for (const lab::Experiment& experiment : lab::experiments()) words.emplace_back(experiment.name);
  command.argument("WORD", flags->words, "run NAME..., or list").suggest(words);
  command.folder("--out", flags->out, "Keep results in DIR: NAME.csv, one row a measurement")
      .more("Parts that a run before has kept there for the same setting are not run again.");
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
  command.examples = {{"weir lab run weir-tables --scale 0.001", "The papers' rows, in a minute"},
                      {"weir lab run compare --trace keys.txt", "Every filter on your own keys"},
                      {"weir lab run compare --stream zipf:U=1e6,s=0.8 --bits 1,2,4,8,16",
                       "Every filter on a stream of a stated law"}};
  command.run([flags] { run_lab(*flags); });
}

}  // namespace weir::cli
