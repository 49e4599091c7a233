// weir count: how often did each key come?
//
// (1) count the inputs  (2) take back what --remove lists  (3) write the counts: of a list, or of
// the inputs, which are read a second time. A sketch knows no keys, only their counts; somebody
// has to ask. With --mark (1) writes, and nobody asks.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "commands.hpp"
#include "making.hpp"
#include "record_flags.hpp"
#include "record_job.hpp"
#include "sizes.hpp"
#include "weir/error.hpp"

namespace weir::cli {
namespace {

struct CountFlags : RecordFlags {
  RunFlags run;
  MakingFlags making;
  bool count_min = false, spectral = false;
  std::optional<double> epsilon, delta;
  bool mark = false, total = false;
  std::string query, remove;

  CountFlags() { making.memory = 64 << 20, making.filter.clear(); }
};

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

void declare_output(Command& command, CountFlags& flags) {
  command.group("Output");
  flags.run.declare_output(command);
  const Flag& mark =
      command.toggle("--mark", flags.mark, "Write each record at once, behind its count so far")
          .more(
              "For streams and pipes: the count, a tab and the record as it was read. The last one "
              "of a key has the count of all.");
  const Flag& query =
      command.file("--query", flags.query, "Write the records of FILE behind their counts")
          .not_with(mark)
          .more(
              "When all is counted. FILE has records of the same kind and the same keys as the "
              "inputs, CSV with its header; `-` is standard input. With a state and without input "
              "files nothing is counted, only asked.");
  command.toggle("--total", flags.total, "Write each input record behind its count in all")
      .not_with(mark)
      .not_with(query)
      .more(
          "The inputs are read a second time for it, so they must be files. This is what is "
          "written without `--mark`, `--query`, `--remove` and `--state`.");
  command.file("--remove", flags.remove, "Take the records of FILE back: each once, for good")
      .more(
          "After counting, before `--query`. Only what was counted may be taken back: a key with "
          "the count 0 ends the run with exit 1, and no state is saved. Whoever takes back what "
          "never came makes other counts too low. Not with the rules that only raise what they "
          "must, `update=conservative` and `rule=minimal-increase`.");
  flags.run.declare_stats(command,
                          "Records, bad ones, occurrences in all, and how far a count can be off.");
}

void declare_sketch(Command& command, CountFlags& flags) {
  command.group("Sketch");
  MakingFlags& making = flags.making;
  const Flag& count_min =
      command.toggle("--count-min", flags.count_min, "Error a share of the stream; the default")
          .more(
              "A count is never too low, and with probability 1 - `--delta` not too high by more "
              "than `--epsilon` times all occurrences: good for the keys that come often, whatever "
              "the number of others.");
  const Flag& spectral =
      command
          .toggle("--spectral", flags.spectral, "Nearly all counts exact, up to a number of keys")
          .not_with(count_min)
          .more(
              "A count is never too low, and right for all keys but a share of `--delta`, as long "
              "as no more different keys come than `--keys`: good where rare keys matter, too.");
  making.filter_flag =
      &command.value("-f,--sketch", making.filter, "SPEC", "Or: NAME:parameter=value,...")
           .not_with(count_min)
           .not_with(spectral)
           .suggest(structure_names(Kind::Sketch))
           .more(
               "`weir filters NAME` lists the parameters. Where nothing is ever removed, "
               "`count-min:update=conservative` and `spectral:rule=minimal-increase` err less in "
               "the same memory.");
  making.memory_flag =
      &command.size("-S,--memory", making.memory, "Memory of the sketch; takes K, M, G")
           .more("Where `--epsilon` or `--keys` says the size, the default does not count.");
  command.value("--epsilon", flags.epsilon, "E", "A count too high by E times all records at most")
      .more("Of `--count-min`; above 0 and below 1. It needs 2.72/E counters of 4 bytes a row.");
  command.value("--delta", flags.delta, "D", "Chance that a count is off by more")
      .shown_as("0.01")
      .more(
          "Above 0 and below 1. Of `--count-min`, ln(1/D) rows; of `--spectral`, the share of keys "
          "whose count is too high at all.");
  command.size("-n,--keys", making.keys, "Expected distinct keys, for --spectral", "COUNT")
      .more("With `--delta` it says the size. Takes K, M and G (of 1024) as well.");
  making.declare_hashing(command);
}

bool is_spectral(const CountFlags& flags) {
  return flags.spectral ||
         flags.making.filter.substr(0, flags.making.filter.find(':')) == "spectral";
}

// The flags as the catalogue understands them.
MakingFlags making_of(const CountFlags& flags) {
  MakingFlags making = flags.making;
  if (making.filter.empty()) making.filter = flags.spectral ? "spectral" : "count-min";
  const std::string name = making.filter.substr(0, making.filter.find(':'));
  const StructureInfo* const info = find_structure(name);
  if (info != nullptr && info->kind != Kind::Sketch)
    refuse(fmt::format("{} is a {}; counting needs a sketch, as --count-min or --spectral", name,
                       kind_name(info->kind)));
  const auto in_range = [](const std::optional<double>& value, const char* flag) {
    if (value && !(*value > 0 && *value < 1))
      refuse(fmt::format("{} must be above 0 and below 1", flag));
  };
  in_range(flags.epsilon, "--epsilon"), in_range(flags.delta, "--delta");
  if (is_spectral(flags)) {
    if (flags.epsilon)
      refuse("--epsilon is for --count-min; --spectral is sized by --keys and --delta, or by -S");
    making.fpr = flags.delta.value_or(0.01);
  } else {
    if (making.keys)
      refuse("--keys is for --spectral; --count-min is sized by --epsilon and --delta, or by -S");
    char next = making.filter.find(':') == std::string::npos ? ':' : ',';
    const auto add = [&](const char* parameter, const std::optional<double>& value) {
      if (value)
        making.filter += fmt::format("{}{}={}", std::exchange(next, ','), parameter, *value);
    };
    add("epsilon", flags.epsilon), add("delta", flags.delta);
  }
  return making;
}

// The sketch of the state file, if it is there, or a new one.
StructurePtr open_sketch(const CountFlags& flags, bool& loaded) {
  const MakingFlags making = making_of(flags);
  std::error_code unknown;  // is told by the loader
  std::string wanted;       // what these come to must be what is there
  if ((flags.epsilon || flags.delta || making.keys) && !flags.run.state.empty() &&
      std::filesystem::exists(flags.run.state, unknown))
    wanted = making.make()->parameters();
  StructurePtr structure = load_if_there(flags.run.state);
  loaded = structure != nullptr;
  if (!loaded) return making.make();
  const std::string what = fmt::format("{} holds {}:{}", flags.run.state, structure->info().name,
                                       structure->parameters());
  if (structure->info().kind != Kind::Sketch)
    refuse(what + ", which does not count; choose another state file");
  const std::string name = structure->info().name;
  if ((flags.count_min && name != "count-min") || (flags.spectral && name != "spectral"))
    refuse(what + ", not what is asked for; leave the option out, or choose another state file");
  if (!wanted.empty() && wanted != structure->parameters())
    refuse(what +
           ", which --epsilon, --delta or --keys would not give; leave them out, or choose "
           "another state file");
  require_agreement(*structure, flags.making, flags.run.state);
  return structure;
}

void require_twice_readable(const DedupOptions& options) {
  std::error_code missing;  // is told when it is opened
  for (const std::string& input : options.inputs)
    if (input == "-" || std::filesystem::is_other(input, missing))
      refuse(fmt::format(
          "{} cannot be read a second time for the counts; --mark writes them while they grow, "
          "--query FILE those of a list, --state FILE keeps them",
          input == "-" ? "standard input" : input));
}

void print_stats(const Sketch& sketch, const DedupStats& stats, bool json) {
  const CountError error = sketch.error();
  print_counting_stats(
      sketch, stats, sketch.total(), json,
      json ? fmt::format("\"never_too_low\":{},\"surplus\":{:.6g},\"chance\":{:.6g}",
                         error.never_below, error.surplus, error.chance)
           : fmt::format("counts       {}too high by more than {} for {} of the keys at most\n",
                         error.never_below ? "never too low, and " : "",
                         show_count(static_cast<std::uint64_t>(error.surplus)),
                         show_percent(error.chance)));
}

void run_count(const CountFlags& flags) {
  DedupOptions options = record_options(flags);
  options.emit = Emit::Nothing;
  bool loaded = false;
  const StructurePtr structure = open_sketch(flags, loaded);
  const RunFlags& run = flags.run;
  const bool asks = !flags.query.empty();
  const bool total =
      flags.total || (!flags.mark && !asks && flags.remove.empty() && run.state.empty());
  const bool counts = !flags.files.empty() || !loaded || (!asks && flags.remove.empty());
  if (total) require_twice_readable(options);
  const bool from_stdin = counts && std::ranges::count(options.inputs, "-") > 0;
  if (from_stdin + (flags.query == "-") + (flags.remove == "-") > 1)
    refuse("standard input can be read only once");
  if (!run.output.empty() && !total && !asks && !flags.mark)
    refuse("nothing is written to -o here: say --total, --mark or --query FILE");
  if (!flags.remove.empty() && !run.save_every.empty())
    refuse("--save-every and --remove exclude each other: a state in between would be neither");
  const std::string output = run.output == "-" ? "" : run.output;

  DedupStats stats;
  if (counts) {  // (1)
    DedupOptions counting = options;
    if (flags.mark) counting.emit = Emit::Count, counting.output = output;
    if (flags.remove.empty()) counting.state = run.state;
    stats = run_records(*structure, counting, run);
  }
  if (!flags.remove.empty()) {  // (2)
    DedupOptions removing = options;
    removing.inputs = {flags.remove};
    removing.take_back = true;
    removing.state = run.state;
    const DedupStats removed = run_records(*structure, removing, run);
    if (!counts) stats = removed;
  }
  if (asks || total) {  // (3)
    DedupOptions asking = options;
    if (asks) asking.inputs = {flags.query};
    asking.emit = Emit::Count;
    asking.read_only = true;
    asking.output = output;
    RunFlags quieter = run;
    quieter.quiet = run.quiet || total;  // what is wrong with the inputs has been said
    const DedupStats asked = run_records(*structure, asking, quieter);
    if (!counts && flags.remove.empty()) stats = asked;
  }
  if (!run.stats.empty())
    print_stats(static_cast<const Sketch&>(*structure), stats, run.stats == "json");
}

}  // namespace

void add_count(CommandLine& line) {
  auto flags = std::make_shared<CountFlags>();
  Command& command = line.command("count", "Tell how often each key came, in fixed memory");
  command.description = {
      "Counts records by their key in a sketch, whose memory does not grow with the stream, and "
      "writes records behind the counts of their keys.",
      "A count is an estimate: never too low, and too high by no more than was asked for, as "
      "`--stats` tells afterwards. (Of the rules of `-f spectral`, `rule=recurring-minimum` makes "
      "no such promise, and a counter of 32 bits that is full stays at 4294967295.)",
      "A sketch holds counts and no keys, so it cannot list what came: `--mark` writes each record "
      "with its count so far, `--query` asks for those of a list, and otherwise the inputs are "
      "read a second time to ask for each of their records.",
      "Not for a list of the most frequent keys: `weir top` finds these without knowing them. Not "
      "for exact counts of few keys: where all different keys fit in memory, `sort | uniq -c` or "
      "`awk` are exact."};
  declare_files(command, *flags);
  declare_records(command, *flags);
  declare_keys(command, *flags, "writes them behind the count 0");
  declare_output(command, *flags);
  command.group("State");
  flags->run.declare_state(command);
  declare_sketch(command, *flags);
  declare_speed(command, *flags);
  command.examples = {
      {"weir count -k 1 access.log", "Each line behind how often its first field came in all"},
      {"tail -f access.log | weir count --mark -k 1", "The same while they come, so far"},
      {"weir count --state hits.weir --epsilon 1e-6 today.log", "Add today's to a state"},
      {"weir count --state hits.weir --query urls.txt", "Ask a state for the counts of a list"},
      {"weir count --state hits.weir --remove monday.log today.log",
       "A count over some days: today's come in, Monday's go"},
      {"weir count --spectral --keys 50M --delta 0.001 --query rare.txt words.txt",
       "Nearly all counts exact, for up to 50 million different words"}};
  command.see_also = "sort(1), uniq(1)";
  command.run([flags] { run_count(*flags); });
}

}  // namespace weir::cli
