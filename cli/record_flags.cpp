#include "record_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "weir/error.hpp"

namespace weir::cli {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

// One byte, or \t, \0 and the like as people type them.
char parse_separator(const std::string& text) {
  if (text.size() == 1) return text[0];
  if (text == "\\t") return '\t';
  if (text == "\\0") return '\0';
  refuse(fmt::format("'{}' is not a separator; give a single byte, or \\t", text));
}

}  // namespace

void declare_files(Command& command, RecordFlags& flags) {
  command.argument("FILE", flags.files, "Input files in order; - or none is standard input").hint =
      Hint::File;
}

void declare_records(Command& command, RecordFlags& flags) {
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

void declare_keys(Command& command, RecordFlags& flags, const std::string& passing) {
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
          "of CSV by a comma. Needs `-k` or another option that names a field, or CSV.");
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
      .more("`pass` " + passing +
            "; `drop` leaves them out; `fail` ends the run with exit 1 at the first one, when "
            "everything before it is written. No bad record is remembered, or counts as a repeat. "
            "A warning says how many there were, and where the first one is.")
      .more(
          "Bad are records that lack a field, column or member that is asked for, "
          "invalid JSON, CSV rows with text behind a closing quote or with quotes never closed, a "
          "short last record of `--fixed`, and what is longer than `--max-record`.");
}

void declare_speed(Command& command, RecordFlags& flags) {
  command.group("Speed");
  declare_threads(command, flags);
}

void declare_threads(Command& command, RecordFlags& flags) {
  command.value("-j,--threads", flags.threads, "N", "Threads; the result is the same for any")
      .between(1, 1024)
      .shown_as("all cores")
      .more("From 1 to 1024. What is written is byte for byte the same for any number.");
  command.group(unlisted);
  command.size("--chunk", flags.chunk, "Bytes read at once, for tests");
}

DedupOptions record_options(const RecordFlags& flags, bool more_fields) {
  DedupOptions options;
  if (!flags.files.empty()) options.inputs = flags.files;
  const bool csv = flags.csv || flags.tsv || (!flags.columns.empty() && !flags.json);
  const bool json = flags.json || (!flags.pointers.empty() && !csv);
  if (flags.nul + flags.fixed.has_value() + csv + json > 1)
    refuse("records are lines, -z, --fixed, --csv (or --tsv), or --json: choose one");
  if (flags.nul) options.format.kind = Records::Nul;
  if (csv) options.format.kind = Records::Csv;
  if (json) options.format.kind = Records::Json;
  if (flags.fixed) {
    options.format.kind = Records::Fixed;
    options.format.width = *flags.fixed;
  }
  if (flags.no_header && !csv) refuse("--no-header needs --csv or --tsv");
  options.format.header = !flags.no_header;
  if (flags.tsv) options.format.separator = '\t';
  if (!flags.separator.empty()) {
    if (flags.tsv) refuse("--tsv is separated by tabs; for another separator use --csv -t");
    const char separator = parse_separator(flags.separator);
    if (csv)
      options.format.separator = separator;
    else if (flags.fields.empty() && !more_fields)
      refuse("-t separates the fields of -k; give -k too");
    options.key.separator = separator;
  }
  options.decompress = !flags.plain;
  options.key.fields = flags.fields;
  options.key.columns = flags.columns;
  options.key.pointers = flags.pointers;
  options.key.ignore_case = flags.ignore_case;
  options.on_bad = flags.on_bad == "fail"   ? OnBad::Fail
                   : flags.on_bad == "drop" ? OnBad::Drop
                                            : OnBad::Pass;
  options.max_record = flags.max_record.value_or(0);
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  if (flags.threads) options.threads = *flags.threads;
  options.chunk_bytes = flags.chunk;
  return options;
}

}  // namespace weir::cli
