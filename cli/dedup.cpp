// weir dedup: records in, first ones out.
#include <memory>

#include "commands.hpp"
#include "dedup_job.hpp"

namespace weir::cli {

void add_dedup(CLI::App& app) {
  auto flags = std::make_shared<DedupFlags>();
  CLI::App& sub = *app.add_subcommand("dedup", "Pass on the first of equal records, in order");
  sub.add_flag("-z,--zero-terminated", flags->nul, "Records end with a NUL, not a newline");
  sub.add_option("--fixed", flags->fixed, "Records of N bytes each");
  sub.add_flag("--csv", flags->csv, "Rows of CSV (RFC 4180); the header is passed on");
  sub.add_flag("--tsv", flags->tsv, "The same, separated by tabs");
  sub.add_flag("--no-header", flags->no_header, "The first row is data");
  sub.add_flag("--json", flags->json, "JSON lines");
  sub.add_flag("--plain", flags->plain, "Do not decompress what looks like gzip or zstd");
  sub.add_option("-k,--key", flags->fields, "Fields that make the key, as in cut: 2,4-5");
  sub.add_option("-t,--field-separator", flags->separator, "What separates fields");
  sub.add_option("--column", flags->columns, "CSV column of the key")->allow_extra_args(false);
  sub.add_option("--pointer", flags->pointers, "JSON pointer of the key")->allow_extra_args(false);
  sub.add_flag("-i,--ignore-case", flags->ignore_case, "Equal but for the case of ASCII letters");
  sub.add_option("--on-bad", flags->on_bad, "Records without a key: pass, drop or fail")
      ->check(CLI::IsMember({"pass", "drop", "fail"}));
  sub.add_option("--importance", flags->importance, "Field, column or pointer of the importance");
  sub.add_option("--importance-max", flags->importance_max, "Greatest importance");
  sub.add_option("--max-record", flags->max_record, "Longer records are bad");
  sub.add_option("-o,--output", flags->output, "Write to FILE instead of standard output");
  sub.add_flag("-d,--repeated", flags->repeats, "Only the repeats");
  sub.add_option("-D,--repeats", flags->repeats_file, "Write the repeats to FILE");
  sub.add_flag("--mark", flags->mark, "Every record, with 0<TAB> (new) or 1<TAB> (seen) in front");
  sub.add_flag("-c,--count", flags->count, "Every record, with its count so far in front");
  sub.add_flag("--stats{text}", flags->stats, "Say afterwards on stderr what was done")
      ->check(CLI::IsMember({"text", "json"}));
  sub.add_option("--max-fpr", flags->max_fpr, "Stop with exit 1 when the live FPR passes P");
  sub.add_flag("-q,--quiet", flags->quiet, "No warnings, no progress");
  sub.add_option("--state", flags->state, "State file: loaded if it is there, saved at the end");
  sub.add_option("--save-every", flags->save_every, "Save that often: 30s, 5min, 1000000");
  sub.add_flag("--read-only", flags->read_only, "Only look, remember nothing");
  sub.add_flag("--resume", flags->resume, "Go on where the same command was interrupted");
  sub.add_option("-j,--threads", flags->threads, "Threads; the result is the same for any number");
  sub.add_option("--chunk", flags->chunk, "Bytes read at once")->group("");
  flags->making.define(sub);
  sub.add_option("FILE", flags->files, "Input files in order; - or none is standard input");
  sub.callback([flags] { run_dedup(*flags); });
}

}  // namespace weir::cli
