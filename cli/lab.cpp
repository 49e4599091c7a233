// weir lab: experiments, by name.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "commands.hpp"
#include "experiment.hpp"
#include "weir/error.hpp"

namespace weir::cli {
namespace {

struct LabFlags {
  std::vector<std::string> words;
  std::string out;
  lab::Setting setting;
  std::uint32_t repeat = 3;
};

void list() {
  for (const lab::Experiment& experiment : lab::experiments())
    fmt::print("{:<14} {}\n", experiment.name, experiment.what);
}

void run_lab(LabFlags& flags) {
  if (flags.words.empty() || (flags.words[0] != "run" && flags.words[0] != "list"))
    throw Error(ErrorCode::Config, "say `weir lab list` or `weir lab run NAME...`");
  if (flags.words[0] == "list") return list();
  if (flags.words.size() < 2)
    throw Error(ErrorCode::Config, "name an experiment to run; `weir lab list` shows all");
  if (!(flags.setting.scale > 0 && flags.setting.scale <= 1))
    throw Error(ErrorCode::Config, "--scale must be above 0 and at most 1");
  flags.setting.repeat = flags.repeat;
  std::vector<const lab::Experiment*> chosen;
  for (std::size_t i = 1; i < flags.words.size(); ++i)
    chosen.push_back(&lab::find_experiment(flags.words[i]));
  if (!flags.out.empty()) {
    std::error_code error;
    std::filesystem::create_directories(flags.out, error);
    if (error)
      throw Error(ErrorCode::Io, "cannot make the folder " + flags.out + ": " + error.message());
  }
  for (const lab::Experiment* experiment : chosen) {
    const lab::Table table = experiment->run(flags.setting);
    table.print(stdout);
    if (!flags.out.empty()) table.write(flags.out);
  }
}

}  // namespace

void add_lab(CommandLine& line) {
  auto flags = std::make_shared<LabFlags>();
  Command& command = line.command("lab", "Run experiments: the papers' streams, comparisons");
  command.description = {
      "`weir lab list` says which experiments there are; `weir lab run NAME...` runs them, prints "
      "a table for each and, with `--out`, writes it as NAME.csv. What is shown is counted against "
      "the exact answer."};
  std::vector<std::string> words = {"run", "list"};
  for (const lab::Experiment& experiment : lab::experiments()) words.emplace_back(experiment.name);
  command.argument("WORD", flags->words, "run NAME..., or list").suggest(words);
  command.folder("--out", flags->out, "Write each table to DIR as CSV");
  command.file("--trace", flags->setting.traces, "Stream of keys, one a line; may be repeated");
  command.value("--filter", flags->setting.filters, "SPEC", "Only this filter; may be repeated")
      .suggest(structure_names(Kind::Filter));
  command.value("--repeat", flags->repeat, "N", "Seeds that each figure is the mean of")
      .between(1, 1000);
  command
      .value("--scale", flags->setting.scale, "X", "Size of the papers' larger streams, 1 is full")
      .more(
          "Tables 4 and 5 are run at this part of their records, keys and memory, Table 3 at ten "
          "times of it. The errors depend on the ratios only.");
  command.examples = {{"weir lab run weir-tables --scale 0.001", "The papers' rows, in a minute"},
                      {"weir lab run compare --trace keys.txt", "Every filter on your own keys"}};
  command.run([flags] { run_lab(*flags); });
}

}  // namespace weir::cli
