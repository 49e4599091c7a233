// weir dedup: records in, first ones out.
#include <memory>

#include "commands.hpp"
#include "dedup_job.hpp"

namespace weir::cli {
namespace {

void declare_records(Command& command, DedupFlags& flags) {
  command.group("Records");
  command.toggle("-z,--zero-terminated", flags.nul, "Records end with a NUL, not a newline");
  command.size("--fixed", flags.fixed, "Records of SIZE bytes each");
  const Flag& csv =
      command.toggle("--csv", flags.csv, "Rows of CSV (RFC 4180); the header is passed on");
  command.toggle("--tsv", flags.tsv, "The same, separated by tabs").not_with(csv);
  command.toggle("--no-header", flags.no_header, "The first row of CSV is data");
  command.toggle("--json", flags.json, "JSON lines");
  command.toggle("--plain", flags.plain, "Do not decompress gzip or zstd");
  command.size("--max-record", flags.max_record, "Longer records are bad");
}

void declare_keys(Command& command, DedupFlags& flags) {
  command.group("Keys");
  command.value("-k,--key", flags.fields, "LIST", "Fields that make the key, as in cut: 2,4-5");
  command.value("-t,--field-separator", flags.separator, "C", "What separates fields");
  command.value("--column", flags.columns, "NAME", "CSV column of the key");
  command.value("--pointer", flags.pointers, "PTR", "JSON pointer of the key");
  command.toggle("-i,--ignore-case", flags.ignore_case,
                 "Take ASCII letters of either case for equal");
  command.choice("--on-bad", flags.on_bad, "DO",
                 {{"pass", "pass"}, {"drop", "drop"}, {"fail", "fail"}},
                 "Records without a key: pass, drop or fail");
  const Flag& importance =
      command.value("--importance", flags.importance, "KEY", "Where the importance stands");
  command.value("--importance-max", flags.importance_max, "N", "Greatest importance")
      .between(1, 0xffffffff)
      .needs(importance);
}

void declare_output(Command& command, DedupFlags& flags) {
  command.group("Output");
  command.file("-o,--output", flags.output, "Write to FILE instead of standard output");
  const Flag& repeated = command.toggle("-d,--repeated", flags.repeats, "Only the repeats");
  command.file("-D,--repeats", flags.repeats_file, "Write the repeats to FILE");
  const Flag& mark =
      command.toggle("--mark", flags.mark, "Every record, behind 0<TAB> if new, 1<TAB> if seen")
          .not_with(repeated);
  command.toggle("-c,--count", flags.count, "Every record, behind its count so far").not_with(mark);
  command
      .choice("--stats", flags.stats, "FORM", {{"text", "text"}, {"json", "json"}},
              "Say afterwards on stderr what was done")
      .bare("text");
  command.value("--max-fpr", flags.max_fpr, "RATE", "Stop with exit 1 at this live FPR");
  command.toggle("-q,--quiet", flags.quiet, "No warnings, no progress");
}

void declare_state(Command& command, DedupFlags& flags) {
  command.group("State");
  const Flag& state =
      command.file("--state", flags.state, "Go on from FILE if it is there; save there at the end")
          .more(
              "The state is saved when the output is written, never before. The options that make "
              "the filter can be left out with a state; those that are given must agree with it.");
  command.value("--save-every", flags.save_every, "WHEN", "Save that often: 30s, 5min, 1000000")
      .needs(state);
  command.toggle("--read-only", flags.read_only, "Only look, remember nothing");
  command.toggle("--resume", flags.resume, "Go on where this command was interrupted");
}

}  // namespace

void add_dedup(CommandLine& line) {
  auto flags = std::make_shared<DedupFlags>();
  Command& command = line.command("dedup", "Pass on the first of equal records, in order");
  command.description = {
      "Reads records and writes each one that did not come before, in the order of the input and "
      "in memory that does not grow with the stream.",
      "The answer is probable, not certain. A new record is taken for a repeat, and dropped, at "
      "about the rate of `--fpr`; a filter that forgets lets old repeats through. If no record may "
      "ever be lost, use `--mark` and decide yourself."};
  command.argument("FILE", flags->files, "Input files in order; - or none is standard input").hint =
      Hint::File;
  declare_records(command, *flags);
  declare_keys(command, *flags);
  declare_output(command, *flags);
  declare_state(command, *flags);
  flags->making.declare(command);
  command.group("Speed");
  command.value("-j,--threads", flags->threads, "N", "Threads; the result is the same for any")
      .between(1, 1024)
      .shown_as("all cores");
  command.group(unlisted);
  command.size("--chunk", flags->chunk, "Bytes read at once, for tests");
  command.examples = {
      {"weir dedup -S 64M big.log", "Drop repeated lines, in 64 MiB"},
      {"weir dedup --csv --column email people.csv", "Keep the first row of each address"},
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
