// weir dedup: records in, first ones out.
#include <memory>

#include "commands.hpp"
#include "dedup_job.hpp"

namespace weir::cli {
namespace {

void declare_records(Command& command, DedupFlags& flags) {
  command.group("Records");
  command.toggle("-z,--zero-terminated", flags.nul, "Records end with a NUL, not a newline")
      .more("For the output of `find -print0` and the like. Newlines are ordinary bytes then.");
  command.size("--fixed", flags.fixed, "Records are SIZE bytes each, without a terminator")
      .more("A last record that is shorter is bad.");
  const Flag& csv =
      command.toggle("--csv", flags.csv, "Records are rows of CSV; the header is passed on")
          .more(
              "As in RFC 4180: a field that begins with a quote goes on to its closing quote, and "
              "may hold separators, newlines and doubled quotes. A quote elsewhere in a field is "
              "an ordinary byte. Rows end with a newline, or carriage return and newline. `-t` "
              "names another separator than the comma.")
          .more(
              "The first row of each input is its header. Inputs must have the same one; it is "
              "written once, and counts as no record. `--column` implies `--csv`.");
  command.toggle("--tsv", flags.tsv, "The same, separated by tabs").not_with(csv);
  command.toggle("--no-header", flags.no_header, "The first row of CSV is data, not a header")
      .more("Columns have numbers only then.");
  command.toggle("--json", flags.json, "Records are lines of JSON")
      .more(
          "Equal values make equal records, whatever the spacing, the order of members, and the "
          "way strings and numbers are written: `1`, `1.0` and `10e-1` are equal, `1` and `\"1\"` "
          "are not. `--pointer` implies `--json`.")
      .more(
          "A line that is not valid JSON is bad, an empty one included, and so is one with an "
          "integer beyond 64 bits. Numbers with a fraction or an exponent are compared as "
          "double-precision numbers.");
  command.toggle("--plain", flags.plain, "Do not decompress gzip and zstd input")
      .more(
          "Without it an input that begins like gzip or zstd is decompressed, whatever its name, "
          "standard input too. One that is cut off or damaged ends the run with exit 1.");
  command.size("--max-record", flags.max_record, "Longer records count as bad")
      .more(
          "Terminators do not count. Without it records have any length, and the longest one is "
          "held in memory; with it, about SIZE of it.");
}

void declare_keys(Command& command, DedupFlags& flags) {
  command.group("Keys");
  command.value("-k,--key", flags.fields, "LIST", "Only these fields count, as in cut -f: 2,4-5")
      .more(
          "Numbers from 1 on and ranges, separated by commas: `2`, `2,4-5`, `3-` (the third and "
          "all that follow), `-2` (the first two). The order in LIST does not matter. Of lines, "
          "records that end with NUL, and CSV.")
      .more(
          "A record must have every field that LIST names, and the first one of an open range; "
          "otherwise it is bad (`--on-bad`).");
  command.value("-t,--field-separator", flags.separator, "C", "Byte that separates fields, or \\t")
      .shown_as("runs of blanks")
      .more(
          "A single byte, `\\t` for a tab or `\\0` for a NUL. Each one separates: two in a row "
          "have an empty field between them. Without `-t`, fields of lines are separated by runs "
          "of spaces and tabs, and those at the beginning and end of a line do not count; columns "
          "of CSV by a comma. Needs `-k`, `--importance` or CSV.");
  command.value("--column", flags.columns, "NAME", "CSV column that counts, by name or number")
      .more(
          "A name of the header, exactly as it stands there, or a number from 1 on. A column whose "
          "name is that number comes first; a name that several columns have is refused. A field "
          "is the same with and without quotes. Of several columns all must be equal.");
  command.value("--pointer", flags.pointers, "PTR", "JSON value that counts, as in /user/id")
      .more(
          "A JSON Pointer (RFC 6901): names of members and numbers of items (from 0 on), each "
          "behind a `/`. In a name `~1` stands for `/`, `~0` for `~`. The value can be of any "
          "kind, `null` too; a record without it is bad. Of several pointers all values must be "
          "equal.");
  command
      .toggle("-i,--ignore-case", flags.ignore_case, "Take ASCII letters of either case for equal")
      .more(
          "Other letters stay different. In JSON it holds for strings and for names of members, "
          "but a pointer must name a member exactly.");
  command
      .choice("--on-bad", flags.on_bad, "DO",
              {{"pass", "pass"}, {"drop", "drop"}, {"fail", "fail"}},
              "Records without a key: pass, drop or fail")
      .more(
          "`pass` writes them like first ones, every one of them; `drop` leaves them out; `fail` "
          "ends the run with exit 1 at the first one, when everything before it is written. No "
          "bad record is remembered, or counts as a repeat. A warning says how many there were, "
          "and where the first one is.")
      .more(
          "Bad are records that lack a field, column or member of the key or their importance, "
          "invalid JSON, CSV rows with text behind a closing quote or with quotes never closed, a "
          "short last record of `--fixed`, and what is longer than `--max-record`.");
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
      command.file("--state", flags.state, "Go on from FILE if it is there; save there at the end")
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
  command.argument("FILE", flags->files, "Input files in order; - or none is standard input").hint =
      Hint::File;
  declare_records(command, *flags);
  declare_keys(command, *flags);
  declare_output(command, *flags);
  declare_state(command, *flags);
  flags->making.declare(command);
  flags->window.declare(command);
  command.group("Speed");
  command.value("-j,--threads", flags->threads, "N", "Threads; the result is the same for any")
      .between(1, 1024)
      .shown_as("all cores")
      .more("From 1 to 1024. What is written is byte for byte the same for any number.");
  command.group(unlisted);
  command.size("--chunk", flags->chunk, "Bytes read at once, for tests");
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
