// weir plan: which filter, how large, with which errors, before a record is read.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "commands.hpp"
#include "core/memory.hpp"
#include "key/keys.hpp"
#include "plan/stream_text.hpp"
#include "plan_report.hpp"
#include "source/source.hpp"

namespace weir::cli {
namespace {

struct PlanFlags {
  std::optional<std::uint64_t> memory, keys, machine;
  std::string window, records;
  std::optional<double> fpr, fnr;
  std::string stream, sample, fields, separator, plot;
  std::vector<std::string> columns, pointers;
  bool json = false, no_rate = false;
};

// The digests of all records, in order.
void read_sample(const PlanFlags& flags, StreamSample& sample) {
  DedupOptions options;
  options.inputs = {flags.sample};
  options.key.fields = flags.fields;
  options.key.columns = flags.columns;
  options.key.pointers = flags.pointers;
  if (!flags.columns.empty()) options.format.kind = Records::Csv;
  if (!flags.pointers.empty()) options.format.kind = Records::Json;
  if (!flags.separator.empty()) {
    if (flags.separator.size() != 1 && flags.separator != "\\t")
      throw Error(ErrorCode::Config, fmt::format("'{}' is not a separator; give a single byte, or "
                                                 "\\t",
                                                 flags.separator));
    const char byte = flags.separator == "\\t" ? '\t' : flags.separator[0];
    options.key.separator = options.format.separator = byte;
  }
  require_readable(options.inputs);
  const Digester digester = Digester::random(HashKind::Xxh3);
  Keys keys(options, digester);
  Keys::Scratch scratch;
  Source source(options, [&](std::string_view row) { keys.read_header(row); });
  Chunk chunk;
  std::vector<Digest> digests;
  while (source.fill(chunk, 16384, {}) == Source::Filled::Yes) {
    keys.digest(chunk, scratch);
    digests.clear();
    auto bad = chunk.bad.begin();
    for (std::size_t i = chunk.heads; i < chunk.records(); ++i) {
      while (bad != chunk.bad.end() && bad->record < i) ++bad;
      if (bad == chunk.bad.end() || bad->record != i) digests.push_back(chunk.digests[i]);
    }
    sample.add(digests);
  }
  sample.finish();
  if (sample.records() == 0)
    throw Error(ErrorCode::Config, "the sample has no record with a key; give one that has");
}

void plot(const PlanFlags& flags, const Wish& wish, const Candidate& best) {
  std::vector<std::vector<Candidate>> points;
  const double middle = std::log2(static_cast<double>(best.request.memory));
  for (int i = -8; i <= 8; ++i)
    points.push_back(
        at_memory(wish, static_cast<std::uint64_t>(std::exp2(middle + 0.5 * i)), best.request.fpr));
  write_plot(flags.plot, points, best);
}

// A number of records, written as for `weir dedup`; 0 where none was given.
std::uint64_t records_of(const std::string& text, const char* flag) {
  if (text.empty()) return 0;
  std::uint64_t records = 0;
  try {
    records = parse_interval(text).records;
  } catch (const Error&) {  // is no time either
  }
  if (records == 0)
    throw Error(
        ErrorCode::Config,
        fmt::format("{} {} is not a number of records; write one, as in {} 10M", flag, text, flag));
  return records;
}

void run_plan(const PlanFlags& flags) {
  Wish wish;
  wish.memory = flags.memory.value_or(0);
  wish.keys = flags.keys.value_or(0);
  wish.window = records_of(flags.window, "--window");
  wish.records = records_of(flags.records, "--records");
  wish.fpr = flags.fpr;
  wish.fnr = flags.fnr;
  wish.machine = flags.machine ? *flags.machine : memory_of_this_machine();
  const auto zero = [](const std::optional<std::uint64_t>& value, const char* name) {
    if (value == 0u)
      throw Error(ErrorCode::Config, fmt::format("{} must be above 0; the least is 1", name));
  };
  zero(flags.memory, "-S");
  zero(flags.keys, "--keys");
  zero(flags.machine, "--machine");
  if (!flags.stream.empty()) wish.stream = parse_stream(flags.stream);
  StreamSample sample;
  if (!flags.sample.empty()) {
    read_sample(flags, sample);
    wish.sample = &sample;
  }
  PlanReport report;
  report.plan = make_plan(wish);
  report.sample = wish.sample;
  report.machine = wish.machine;
  if (!flags.no_rate) report.rate = measure_rate(report.plan.best);
  if (!flags.plot.empty()) plot(flags, wish, report.plan.best);
  flags.json ? print_json(report) : print_text(report);
}

// Returns --sample.
const Flag& declare_known(Command& command, PlanFlags& flags) {
  command.group("Known or wanted");
  command.size("-S,--memory", flags.memory, "Memory of the filter; takes K, M, G")
      .more("Without it the memory follows from the FNR, the keys or the window.");
  const Flag& keys = command.size("-n,--keys", flags.keys, "Different keys in all", "COUNT")
                         .more("Takes K, M and G (of 1024) as well.");
  const Flag& window =
      command.value("--window", flags.window, "N", "Only repeats within N records count")
          .more("Takes K, M and G of thousands, as `weir dedup --window` does.")
          .not_with(keys);
  command.value("--records", flags.records, "N", "Records in all")
      .shown_as("without end")
      .more("Takes K, M and G of thousands. Without it the rates are those of the steady state.");
  command.value("--fpr", flags.fpr, "RATE", "Share of new records taken for repeats")
      .shown_as("0.001")
      .more("Where memory and keys, a window or an FNR are given it follows from these.");
  command.value("--fnr", flags.fnr, "RATE", "Wanted share of repeats let through");
  const Flag& stream =
      command.value("--stream", flags.stream, "MODEL", "How keys repeat, as in zipf:U=1e6,s=1.1")
          .suggest({"uniform:U=", "zipf:U=", "fixed:d=", "geometric:mean=", "pareto:least="})
          .not_with(keys)
          .not_with(window)
          .more(
              "`uniform:U=1e6`: each record is one of U keys. `zipf:U=1e6,s=1.1`: the key of rank "
              "i with a probability as 1/i^s. `geometric:mean=5000,again=0.3`: of the records a "
              "share `again` has its key come again, after a number of records of this law; so "
              "too `fixed:d=5000,again=0.3` and `pareto:least=100,shape=1.1,again=0.3`.");
  const Flag& sample =
      command.file("--sample", flags.sample, "Learn how keys repeat from real records; - is stdin")
          .not_with(keys)
          .not_with(window)
          .not_with(stream)
          .more(
              "Lines, or CSV or JSON with `--column` or `--pointer`, by gzip or zstd too. A random "
              "part of the keys, a million records at most, is kept and run through small filters. "
              "With `--records` the stream is longer than the sample, and goes on like its second "
              "half.");
  command.size("--machine", flags.machine, "Memory of one machine")
      .shown_as("this one's")
      .more("Where the plan needs more it is spread over several machines.");
  return sample;
}

}  // namespace

void add_plan(CommandLine& line) {
  auto flags = std::make_shared<PlanFlags>();
  Command& command = line.command("plan", "Size a filter: which one, how large, with which errors");
  command.description = {
      "From what is known of a stream and what is wanted it tells which filter to take and why, "
      "its parameters, its memory, the errors to expect and where their formula comes from, how "
      "fast it is here, and the `weir dedup` line that runs it.",
      "Give two or three of memory, keys (or a window, a model of the stream, or a sample of it), "
      "FPR and FNR; the rest follows. Predictions are within 10 % of what a run on such a stream "
      "shows."};
  const Flag& sample = declare_known(command, *flags);
  command.group("Keys of the sample");
  command.value("-k,--key", flags->fields, "LIST", "Only these fields count, as in dedup")
      .needs(sample);
  command.value("-t,--field-separator", flags->separator, "C", "Byte that separates fields, or \\t")
      .needs(sample)
      .shown_as("runs of blanks");
  command.value("--column", flags->columns, "NAME", "CSV column that counts").needs(sample);
  command.value("--pointer", flags->pointers, "PTR", "JSON value that counts").needs(sample);
  command.group("Output");
  command.toggle("--json", flags->json, "Write JSON");
  command.file("--plot", flags->plot, "Write FNR and FPR against memory to an SVG file");
  command.toggle("--no-rate", flags->no_rate, "Do not measure the speed");
  command.examples = {
      {"weir plan -n 10M --fpr 1e-6", "How large is a filter that never misses 10 M keys?"},
      {"weir plan -S 1G --sample today.log", "What will 1 GiB miss of a log like today's?"},
      {"weir plan --window 1M --fpr 0.001", "A window of a million records"},
      {"weir plan --stream zipf:U=1e9,s=0.9 --fnr 0.05", "How much memory for 5 % misses?"}};
  command.run([flags] { run_plan(*flags); });
}

}  // namespace weir::cli
