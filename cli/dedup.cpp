// weir dedup: records in, first ones out.
#include <memory>

#include "commands.hpp"
#include "dedup_job.hpp"

namespace weir::cli {
namespace {

// Of the group of the keys.
void declare_importance_and_time(Command& command, DedupFlags& flags) {
  const Flag& importance = command
                               .value("--importance", flags.importance, "KEY",
                                      "Field, column or pointer of a record's importance")
                               .more(
                                   "A field number, a column by name or number, or a JSON pointer, "
                                   "as the records are. There stands a number (in JSON, it may be "
                                   "in a string); fractions are cut off, and less than 1 counts as "
                                   "1. More important records are remembered longer. Needs a "
                                   "filter that knows importance: `weir`, `ibf-2c`, `ibf-mc` or "
                                   "`ibf-h`.")
                               .more(
                                   "Without `-k`, `--column` or `--pointer` the whole record is "
                                   "the key, its importance included.");
  command.value("--importance-max", flags.importance_max, "N", "More importance than N counts as N")
      .between(1, 0xffffffff)
      .needs(importance)
      .more(
          "Sets the filter's parameter `imax`, where that is not given: the importance that is "
          "remembered longest. It is 7 without.");
  command.value("--time", flags.time, "KEY", "Field, column or pointer of a record's time")
      .more(
          "For a window of time, as in `--window 24h`. A field number, a column by name or number, "
          "or a JSON pointer, as the records are. There stands a date as in RFC 3339, "
          "`2026-11-16T03:26:07.25+01:00` (without an offset it is UTC), or the time since 1970: "
          "in seconds below 1e11, then in milliseconds, from 1e14 on in microseconds, from 1e17 "
          "on in nanoseconds. A record without is bad.")
      .more(
          "The clock is the highest time met. A record behind it is late: it is judged, and "
          "remembered, as if it came now. A time that is further from the clock than the window "
          "and than a week, ahead or behind, is not believed before such records outnumber the "
          "others by ten; until then they count as if they came now. `--stats` tells how many were "
          "late and how many were doubted.");
}

void declare_output(Command& command, DedupFlags& flags) {
  command.group("Output");
  command.file("-o,--output", flags.output, "Write to FILE instead of standard output")
      .more(
          "FILE is emptied when the first records have been read, not before. `-` is standard "
          "output. FILE must not be one of the inputs.");
  const Flag& repeated = command.toggle("-d,--repeated", flags.repeats, "Write only the repeats")
                             .more(
                                 "Every record but the first of its kind, so that a record that "
                                 "comes three times is written twice.");
  command.file("-D,--repeats", flags.repeats_file, "Write the repeats to FILE as well")
      .more("Beside the output, whatever that is. Of CSV it gets the header, too.");
  const Flag& mark =
      command.toggle("--mark", flags.mark, "Every record, behind 0<TAB> if new, 1<TAB> if seen")
          .not_with(repeated)
          .more("Bad records and the header of CSV are marked with 0.");
  command.toggle("-c,--count", flags.count, "Every record, behind its count so far")
      .not_with(mark)
      .more(
          "The count and a tab. It is an estimate, with `count-min` never too low; `weir filters "
          "count-min` tells how much too high it can be. Needs a sketch, and takes `count-min` "
          "where `-f` names none. With `-d`, only records whose count is above 1. Bad records and "
          "the header of CSV have the count 0.");
  command
      .choice("--stats", flags.stats, "FORM", {{"text", "text"}, {"json", "json"}},
              "Say afterwards on stderr what was done")
      .bare("text")
      .more(
          "Records, first ones, repeats, bad ones, the fill of the filter, its live false-positive "
          "rate and, where it can be estimated, the share of repeats that was let through.");
  command
      .value("--max-fpr", flags.max_fpr, "RATE", "Stop with exit 1 when the live FPR passes RATE")
      .more(
          "Above 0 and below 1. The live false-positive rate follows from the fill of the filter. "
          "It is looked at whenever the stream has grown by 2 %, but in steps of at least 256 "
          "records and of one record for 64 bytes of the filter (8 million at most), so that it "
          "can be somewhat beyond RATE when the run ends. What was written until then stays, and "
          "the state is saved.");
  command.toggle("-q,--quiet", flags.quiet, "No warnings, no progress line");
}

void declare_state(Command& command, DedupFlags& flags) {
  command.group("State");
  const Flag& state =
      command.file("--state", flags.state, "Go on from FILE if it is there; save at the end")
          .more(
              "The state is saved when the output is written, never before; the file is replaced "
              "as a whole. A run that fails leaves the state of its last save. The options that "
              "make the filter can be left out with a state; those that are given must agree with "
              "it.")
          .more(
              "With a state, SIGINT and SIGTERM stop the run in order: output, then state, then "
              "the process ends by that signal. A second one ends it at once, without saving.");
  command
      .value("--save-every", flags.save_every, "WHEN", "Save this often, too: 30s, 5min, 1000000")
      .needs(state)
      .more(
          "A time in `s`, `min`, `h` or `d`, as in `30s`, `1.5h`; or a number of records, which "
          "can "
          "have `K`, `M` or `G` (here thousands, millions and thousand millions). Without it, and "
          "without `--resume`, the state is saved at the end only.");
  command.toggle("--read-only", flags.read_only, "Only look records up; remember nothing")
      .more(
          "A record that the state does not know is new each time it comes. The file of `--state` "
          "must be there, and is not written.");
  command.toggle("--resume", flags.resume, "After an interruption: the same command goes on")
      .more(
          "Needs `--state` and `-o`, and files as input. The state holds the position in input "
          "and output too, and is saved every 60 s where `--save-every` does not say otherwise. "
          "Give it from the first run on. Run again after an interruption of any kind, the same "
          "command cuts the output back to the last save and goes on there; the result is byte "
          "for byte that of a run without interruption.")
      .more(
          "The same command means the same inputs by the same names, records, keys and outputs; "
          "another job is refused while this one is not finished. A finished job is not done "
          "again: the same command then exits with 0, or with 1 when the inputs have changed. A "
          "later job needs another name for an input or output, and finds the filter as this one "
          "left it.");
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
      "ever be lost, use `--mark` and decide yourself.",
      "Records are lines unless told otherwise, and are equal when all their bytes are, up to the "
      "newline, which does not count; a carriage return does. They are written as they were read. "
      "A last line without newline stays "
      "without, unless more is written behind it.",
      "The default filter, `weir`, is for streams without end: it forgets nothing before it is "
      "full, and then first what never came again. Where repeats count only for a while, "
      "`--window` says how long. For a number of different records that is known and fits, `-f "
      "blocked-bloom -n COUNT` forgets nothing. When more new records than `--fpr` says are about "
      "to be lost, a warning tells so."};
  declare_files(command, *flags);
  declare_records(command, *flags);
  declare_keys(command, *flags, "writes them like first ones, every one of them");
  declare_importance_and_time(command, *flags);
  declare_output(command, *flags);
  declare_threads(command, *flags);  // in the same group: the help is to fit a screen
  declare_state(command, *flags);
  flags->making.declare(command);
  flags->window.declare(command);
  command.examples = {
      {"weir dedup -S 64M big.log", "Drop repeated lines, in 64 MiB"},
      {"weir dedup --column email people.csv.gz", "Keep the first row of each address"},
      {"weir dedup --state seen.weir today.log", "Pass on what no earlier run has seen"},
      {"tail -f app.log | weir dedup -k 3-",
       "Drop lines that differ only in their first two fields, date and time"},
      {"weir dedup --pointer /user/id --on-bad drop -D again.jsonl events.jsonl",
       "Keep the first event of each user, put the others aside"},
      {"weir dedup --column ip --window 24h --time when clicks.csv",
       "Let an address pass again when it was silent for 24 hours"},
      {"weir dedup -f blocked-bloom -n 10M --max-fpr 0.01 urls.txt",
       "Forget nothing, for a known number of keys, and stop when 1 % of new ones would be lost"},
      {"weir dedup --resume --state job.weir -o out.txt in1.zst in2.zst",
       "A long job, which the same command continues after a crash"},
      {"find . -type f -printf '%f\\0' | weir dedup -z -d | tr '\\0' '\\n'",
       "File names that occur more than once"}};
  command.sections = {
      {"FILES",
       {"A state file holds the filter and the secret of its hash, so it is made readable for its "
        "owner only. `weir inspect` tells what is in it. A run that is killed while it saves "
        "leaves a file FILE.tmp.PID, which can be deleted."}}};
  command.see_also = "sort(1), uniq(1)";
  command.run([flags] { run_dedup(*flags); });
}

}  // namespace weir::cli
