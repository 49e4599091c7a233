// weir intersect: what two machines have in common, with few bytes between them.
#include "weir/intersect.hpp"

#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "exchange_flags.hpp"
#include "pipeline/job.hpp"
#include "record_flags.hpp"
#include "record_job.hpp"
#include "sizes.hpp"
#include "source/source.hpp"
#include "weir/error.hpp"

namespace weir::cli {
namespace {

struct IntersectFlags : RecordFlags {
  ExchangeFlags exchange;
  RunFlags run;
  std::uint64_t memory = std::uint64_t{1} << 30;
  bool difference = false, union_size = false, every = false;
};

void print_text(const IntersectStats& stats) {
  const IntersectPlan& plan = stats.plan;
  const std::string filter =
      plan.filter.m == 0
          ? "none: sending all keys is cheaper"
          : fmt::format("{} bits a key, {} probe{}, FPR {}{}, {} on the wire",
                        fmt::format("{:.1f}", static_cast<double>(plan.filter.m) * plan.parts /
                                                  static_cast<double>(stats.here)),
                        plan.filter.k, plan.filter.k == 1 ? "" : "s", show_percent(plan.fpr),
                        plan.parts == 1 ? "" : fmt::format(", in {} parts", plan.parts),
                        show_bytes(static_cast<std::uint64_t>(plan.filter_bytes)));
  fmt::print(stderr,
             "here         {} keys in {} records, {} read {} time{}\n"
             "there        {} keys\n"
             "both         {}\n"
             "only here    {}\n"
             "only there   {}\n"
             "union        {}\n"
             "filter       {}\n"
             "came back    {} keys, {} of them wrongly\n"
             "sent         {}\n"
             "received     {}\n"
             "expected     {} both ways; with a plain Bloom filter {}\n"
             "all keys     {} from there, {} from here\n"
             "bad          {}\n"
             "time         {:.2f} s\n",
             show_count(stats.here), show_count(stats.records), show_bytes(stats.key_bytes_here),
             stats.readings, stats.readings == 1 ? "" : "s", show_count(stats.there),
             show_count(stats.both), show_count(stats.only_here()), show_count(stats.only_there()),
             show_count(stats.either()), filter, show_count(stats.keys_sent),
             show_count(stats.keys_sent - stats.both), show_bytes(stats.sent),
             show_bytes(stats.received), show_bytes(static_cast<std::uint64_t>(stats.expected)),
             show_bytes(static_cast<std::uint64_t>(plan.plain_cost +
                                                   static_cast<double>(stats.both) *
                                                       (1 - plan.fpr) * stats.wire_bytes_a_key)),
             show_bytes(stats.key_bytes_there + stats.there),
             show_bytes(stats.key_bytes_here + stats.here), show_count(stats.bad), stats.seconds);
}

void print_json(const IntersectStats& stats) {
  const IntersectPlan& plan = stats.plan;
  fmt::print(stderr,
             "{{\"here\":{},\"there\":{},\"both\":{},\"only_here\":{},\"only_there\":{},"
             "\"union\":{},\"records\":{},\"bad\":{},\"filter_bits\":{},\"probes\":{},\"parts\":{},"
             "\"fpr\":{:.6g},\"keys_received\":{},\"bytes_sent\":{},\"bytes_received\":{},"
             "\"bytes_expected\":{:.0f},\"bytes_of_all_keys_here\":{},"
             "\"bytes_of_all_keys_there\":{},\"bytes_a_key_on_the_wire\":{:.3f},\"readings\":{},"
             "\"seconds\":{:.6f}}}\n",
             stats.here, stats.there, stats.both, stats.only_here(), stats.only_there(),
             stats.either(), stats.records, stats.bad, plan.filter.m, plan.filter.k, plan.parts,
             plan.fpr, stats.keys_sent, stats.sent, stats.received, stats.expected,
             stats.key_bytes_here + stats.here, stats.key_bytes_there + stats.there,
             stats.wire_bytes_a_key, stats.readings, stats.seconds);
}

void print_served(const IntersectStats& stats, bool json) {
  if (json)
    fmt::print(stderr,
               "{{\"here\":{},\"records\":{},\"bad\":{},\"keys_sent\":{},\"bytes_sent\":{},"
               "\"bytes_received\":{},\"readings\":{},\"seconds\":{:.6f}}}\n",
               stats.here, stats.records, stats.bad, stats.keys_sent, stats.sent, stats.received,
               stats.readings, stats.seconds);
  else
    fmt::print(stderr,
               "here         {} keys in {} records\n"
               "sent         {} keys, {}\n"
               "received     {}\n"
               "bad          {}\n"
               "time         {:.2f} s\n",
               show_count(stats.here), show_count(stats.records), show_count(stats.keys_sent),
               show_bytes(stats.sent), show_bytes(stats.received), show_count(stats.bad),
               stats.seconds);
}

void run_intersect(const IntersectFlags& flags) {
  IntersectOptions options;
  options.records = record_options(flags);
  options.records.output = flags.run.output == "-" ? "" : flags.run.output;
  options.memory = flags.memory;
  options.every_record = flags.every;
  if (flags.difference) options.write = IntersectOptions::Write::OnlyHere;
  if (flags.union_size) options.write = IntersectOptions::Write::Nothing;
  const bool standard =
      flags.exchange.serve && flags.exchange.listen.empty() && flags.exchange.connect.empty();
  for (const std::string& input : options.records.inputs)
    if (standard && input == "-")
      throw Error(ErrorCode::Config,
                  "--serve speaks on standard input, so the keys must come from a FILE");
  if (flags.exchange.serve &&
      (flags.difference || flags.union_size || flags.every || !flags.run.output.empty()))
    throw Error(ErrorCode::Config,
                "with --serve nothing is written here; the other side says "
                "what it wants");
  // Before the other side is troubled; one that serves has to tell it, too.
  if (!flags.exchange.serve) {
    check_reading(options.records);
    require_readable(options.records.inputs);
  }
  ExchangeFlags exchange = flags.exchange;
  exchange.quiet = flags.run.quiet;
  IntersectStats stats;
  converse(exchange, [&](Channel& channel) {
    stats = exchange.serve ? serve_intersect(channel, options) : intersect(channel, options);
  });
  const bool quiet = flags.run.quiet, json = flags.run.stats == "json";
  if (stats.bad > 0 && !quiet)
    fmt::print(stderr, "weir: warning: {} record{} without a key left out; the first: {}\n",
               show_count(stats.bad), stats.bad == 1 ? "" : "s", stats.first_bad);
  if (flags.union_size) fmt::print("{}\n", stats.either());
  if (!flags.run.stats.empty()) {
    if (exchange.serve)
      print_served(stats, json);
    else
      json ? print_json(stats) : print_text(stats);
  } else if (!exchange.serve && !quiet) {
    fmt::print(stderr,
               "weir: {} keys here, {} there, {} in both; {} sent and {} received, where all keys "
               "there are {}\n",
               show_count(stats.here), show_count(stats.there), show_count(stats.both),
               show_bytes(stats.sent), show_bytes(stats.received),
               show_bytes(stats.key_bytes_there + stats.there));
  }
}

}  // namespace

void add_intersect(CommandLine& line) {
  auto flags = std::make_shared<IntersectFlags>();
  Command& command = line.command("intersect", "Find the keys that two machines have in common");
  command.description = {
      "Writes the records of the local files whose keys the other machine has, too, in their "
      "order, the first one of each key. The answer is exact. Few bytes go between the machines: "
      "this side sends a compressed Bloom filter of its keys, the other side sends back those of "
      "its keys that are in it, and this side drops the few that came through wrongly. The "
      "filter's size is the one that makes the sum least.",
      "The other side is started by `--with`, usually through ssh, or reached on a port: one side "
      "has `--listen`, the other `--connect`. The side with `--serve` answers and writes nothing.",
      "Sets may be larger than the memory: their files are read several times then. What comes "
      "through a pipe is kept in a temporary file (in `$TMPDIR`).",
      "Not for two files on one machine: `sort -u` and `comm` do that, or `weir dedup --read-only` "
      "with the state of the other. Not for a third party's keys that must stay secret: the other "
      "side learns about which keys are here, and this side gets some that it does not have."};
  declare_files(command, *flags);
  command.group("Result");
  const Flag& difference = command.toggle("--difference", flags->difference,
                                          "Records whose keys the other side has not");
  const Flag& union_size = command
                               .toggle("--union-size", flags->union_size,
                                       "Only the number of keys that are here or there")
                               .not_with(difference);
  command.toggle("--every", flags->every, "Every record, not only the first of each key")
      .not_with(union_size);
  flags->run.declare_output(command);
  flags->run.declare_stats(
      command,
      "Sizes of the sets, the filter, and the bytes that went both ways beside "
      "those expected and those of all keys.");
  command.size("-S,--memory", flags->memory, "Memory, at most; takes K, M, G")
      .more("Beside a bit or two a record. With less the files are read more often.");
  flags->exchange.declare(command, "Answer the other side; write nothing here");
  declare_records(command, *flags);
  declare_keys(command, *flags, "leaves them out, as `drop` does");
  command.group(unlisted);
  command.size("--chunk", flags->chunk, "Bytes read at once, for tests");
  command.examples = {
      {"weir intersect --with 'ssh backup weir intersect --serve /srv/ids' ids",
       "Which of our ids has the other machine?"},
      {"weir intersect --difference --with 'ssh backup weir intersect --serve /srv/ids' ids",
       "And which not?"},
      {"weir intersect --serve --listen 7000 -k 1 visitors.log",
       "Answer on a port of this machine"},
      {"weir intersect --connect 127.0.0.1:7000 --union-size -k 1 visitors.log",
       "How many visitors in all"}};
  command.see_also = "comm(1), join(1), ssh(1)";
  command.run([flags] { run_intersect(*flags); });
}

}  // namespace weir::cli
