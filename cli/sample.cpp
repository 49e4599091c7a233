// weir sample: a fair few of a stream whose length nobody knows.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>

#include "commands.hpp"
#include "core/bits.hpp"
#include "key/keys.hpp"
#include "making.hpp"
#include "pipeline/job.hpp"
#include "record_flags.hpp"
#include "record_job.hpp"
#include "sample/record_sampler.hpp"
#include "signals.hpp"
#include "sink/output.hpp"
#include "sizes.hpp"
#include "source/source.hpp"
#include "weir/error.hpp"

namespace weir::cli {
namespace {

using Way = RecordSampler::Way;
using Clock = std::chrono::steady_clock;
constexpr const char* way_names[] = {"uniform", "--bias", "--weight", "--distinct"};

struct SampleFlags : RecordFlags {
  RunFlags run;
  MakingFlags making;
  std::uint64_t number = 1000;
  const Flag* number_flag = nullptr;
  std::string bias, weight, every;
  bool distinct = false, shuffle = false;
};

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

void declare_sample(Command& command, SampleFlags& flags) {
  command.group("Sample");
  flags.number_flag =
      &command.value("-n,--number", flags.number, "N", "Records to hold")
           .between(1, std::uint64_t{1} << 40)
           .more("Of a shorter stream, all of it. They are held in memory, as long as they are.");
  const Flag& bias =
      command.value("--bias", flags.bias, "COUNT", "Recent ones likelier: half as likely COUNT ago")
          .more(
              "The half-life, in records, as in `1000000` or `10M`: a record that came COUNT "
              "records before another one is half as likely to be held. The sample has about N "
              "records, after a while N, and N can be 1.44 COUNT at most.");
  const Flag& weight =
      command.value("--weight", flags.weight, "KEY", "Likelier by the number in a field or column")
          .not_with(bias)
          .more(
              "A field number, a column by name or number, or a JSON pointer. There stands a "
              "number from 1 to 4294967295; fractions are cut off, and less than 1 counts as 1. "
              "The sample is as N draws, each by weight among those that are left.");
  command.toggle("--distinct", flags.distinct, "Sample keys, not records: each key counts once")
      .not_with(bias)
      .not_with(weight)
      .more(
          "Of N keys drawn uniformly from all different ones the first record of each. The key is "
          "the whole record, or what `-k`, `--column` or `--pointer` say.");
  flags.run.declare_output(command);
  command.toggle("--shuffle", flags.shuffle, "In random order, not in that of the input");
  command.value("--every", flags.every, "WHEN", "Write the sample this often, too: 30s, 1000000")
      .more(
          "A time in `s`, `min`, `h` or `d`, or a number of records (`K`, `M` and `G` are "
          "thousands, millions and thousand millions). SIGUSR1 has it written at once. With `-o` "
          "the file holds the last sample; on standard output an empty record stands between two.");
  flags.run.declare_stats(command, "Records met, bad ones, and records held.");
  command.group("State");
  command.file("--state", flags.run.state, "Go on from FILE if it is there; save at the end")
      .more(
          "The sample so far, with its records. Options that say how it is drawn can be left out "
          "then; those that are given must agree. SIGINT and SIGTERM stop the run in order: the "
          "sample is written, the state saved, and the process ends by that signal.");
  flags.making.declare_hashing(command);
}

struct Wanted {
  Way way = Way::Uniform;
  double half_life = 0;
};

Wanted wanted_of(const SampleFlags& flags) {
  Wanted wanted;
  if (!flags.weight.empty()) wanted.way = Way::Weighted;
  if (flags.distinct) wanted.way = Way::Distinct;
  if (!flags.bias.empty()) {
    const Interval interval = parse_interval(flags.bias);
    if (interval.records == 0)
      refuse(fmt::format("--bias {} is a time; the half-life is a number of records", flags.bias));
    wanted = {Way::Recent, static_cast<double>(interval.records)};
  }
  const bool keys = !flags.fields.empty() || !flags.columns.empty() || !flags.pointers.empty();
  if (keys && !flags.distinct)
    refuse("-k, --column and --pointer say which keys are different; they need --distinct");
  return wanted;
}

RecordSampler open_sampler(const SampleFlags& flags) {
  const Wanted wanted = wanted_of(flags);
  const std::string& state = flags.run.state;
  std::error_code unknown;
  if (state.empty() || !std::filesystem::exists(state, unknown)) {
    std::random_device device;
    const std::uint64_t seed =
        flags.making.seed.value_or(static_cast<std::uint64_t>(device()) << 32 | device());
    const HashKind hash = flags.making.hash;
    return {wanted.way, flags.number, wanted.half_life, seed,
            flags.making.seed ? Digester::from_seed(hash, seed) : Digester::random(hash)};
  }
  RecordSampler loaded = RecordSampler::load(state);
  const auto differs = [&](const std::string& what) {
    refuse(
        fmt::format("{} holds a sample of {} records ({}), not {}; leave the option out, or "
                    "choose another state file",
                    state, loaded.capacity(), way_names[static_cast<int>(loaded.way())], what));
  };
  if (wanted.way != loaded.way()) {
    if (loaded.way() == Way::Weighted)
      refuse(state + " holds a sample by weight; say where the weight stands, with --weight");
    if (loaded.way() == Way::Distinct)
      refuse(state + " holds a sample of keys; say so, with --distinct and the same keys");
    if (wanted.way != Way::Uniform) differs(way_names[static_cast<int>(wanted.way)]);
  }
  if (flags.number_flag->given() && flags.number != loaded.capacity())
    differs(fmt::format("{}", flags.number));
  if (wanted.half_life > 0 && wanted.half_life != loaded.half_life())
    differs("--bias " + flags.bias);
  if (flags.making.seed && *flags.making.seed != loaded.seed())
    differs(fmt::format("--seed {}", *flags.making.seed));
  return loaded;
}

// Reads, offers and writes; a loop of one thread.
class SampleRun {
 public:
  SampleRun(const SampleFlags& flags, const DedupOptions& options, RecordSampler& sampler)
      : flags_(flags),
        options_(options),
        sampler_(sampler),
        keys_(options, sampler.digester()),
        source_(options, [this](std::string_view row) { keys_.read_header(row); }) {
    if (!flags.every.empty()) every_ = parse_interval(flags.every);
  }

  void run(StopOnSignal* stop) {
    AskedBySignal asked;
    Chunk chunk;
    for (bool more = true; more;) {
      switch (source_.fill(chunk, most_records(), waiting(stop, asked))) {
        case Source::Filled::Yes:
          take(chunk);
          more = !is_readable(stop) || !source_.can_stop_here();
          stopped_ = !more;
          break;
        case Source::Filled::End:
          more = false;
          break;
        case Source::Filled::Stop:
          if (is_readable(stop)) {
            stopped_ = true;
            more = false;
            if (source_.give_up(chunk)) take(chunk);
          }
          break;
        case Source::Filled::Timeout:
          break;
      }
      if (more && (asked.asked() || is_due())) write();
    }
    write();
  }

  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  [[nodiscard]] const DedupStats& stats() const noexcept { return stats_; }

 private:
  [[nodiscard]] static bool is_readable(const StopOnSignal* stop) {
    if (stop == nullptr) return false;
    pollfd fd{stop->fd(), POLLIN, 0};
    return ::poll(&fd, 1, 0) > 0;
  }
  [[nodiscard]] std::size_t most_records() const {
    constexpr std::uint64_t most = 16384;
    if (every_.records == 0) return most;
    return std::min(most, every_.records - stats_.records % every_.records);
  }
  [[nodiscard]] double until_due() const {
    return every_.seconds - std::chrono::duration<double>(Clock::now() - written_).count();
  }
  [[nodiscard]] Waiting waiting(const StopOnSignal* stop, const AskedBySignal& asked) const {
    Waiting w;
    if (stop != nullptr) w.stop_fds[0] = stop->fd();
    w.stop_fds[1] = asked.fd();
    if (every_.seconds > 0)
      w.timeout_ms = static_cast<int>(std::clamp(std::ceil(until_due() * 1000), 1.0, 1e9));
    return w;
  }
  [[nodiscard]] bool is_due() const {
    if (every_.seconds > 0) return until_due() <= 0;
    return every_.records > 0 && stats_.records > written_at_ &&
           stats_.records % every_.records == 0;
  }

  void take(Chunk& chunk) {
    keys_.digest(chunk, scratch_);
    if (chunk.heads > 0 && chunk.new_header) header_ = chunk.without_terminator(0);
    stats_.bytes += chunk.ends.back();
    if (!chunk.piece) stats_.records += chunk.records() - chunk.heads;
    if (chunk.first_piece) ++stats_.records;
    note_bad(chunk);
    if (chunk.piece) return;
    auto bad = chunk.bad.begin();
    for (std::size_t i = chunk.heads; i < chunk.records(); ++i) {
      if (bad != chunk.bad.end() && bad->record == i) {
        ++bad;
        continue;
      }
      if (const std::uint64_t misses = sampler_.certain_misses(); misses > 0) {
        const std::size_t end = bad == chunk.bad.end() ? chunk.records() : bad->record;
        const std::uint64_t leap = std::min<std::uint64_t>(misses, end - i);
        sampler_.skip(leap);
        i += leap - 1;
        continue;
      }
      sampler_.offer(chunk.without_terminator(i), chunk.weights.empty() ? 1 : chunk.weights[i],
                     chunk.digests[i]);
    }
  }

  void note_bad(const Chunk& chunk) {
    if (chunk.bad.empty()) return;
    const Chunk::Bad& first = chunk.bad.front();
    if (stats_.bad == 0)
      stats_.first_bad = fmt::format("{}, record {}: {}", shown_name(options_.inputs[chunk.input]),
                                     chunk.first_record + first.record, first.why);
    stats_.bad += chunk.bad.size();
    if (options_.on_bad == OnBad::Fail)
      throw Error(ErrorCode::BadInput, stats_.first_bad + "; no sample is written");
  }

  void write() {
    std::vector<const RecordSampler::Held*> held;
    for (const RecordSampler::Held& one : sampler_.held()) held.push_back(&one);
    std::ranges::sort(held, {}, &RecordSampler::Held::ordinal);
    if (flags_.shuffle) {
      Draws draws(mix(sampler_.seed(), sampler_.met()));
      for (std::size_t i = held.size(); i > 1; --i) std::swap(held[i - 1], held[draws.below(i)]);
    }
    const std::string end = options_.format.kind == Records::Fixed ? ""
                            : options_.format.kind == Records::Nul ? std::string(1, '\0')
                                                                   : "\n";
    const bool to_file = !flags_.run.output.empty() && flags_.run.output != "-";
    std::string text;
    if (!to_file && written_once_) text += end;
    if (!header_.empty()) text += header_ + end;
    for (const auto* const one : held) text.append(one->record).append(end);
    Output output = to_file ? Output::create(flags_.run.output) : Output(1, "the output");
    output.write(text, false, '\n');
    output.close();
    written_once_ = true;
    written_ = Clock::now();
    written_at_ = stats_.records;
  }

  const SampleFlags& flags_;
  const DedupOptions& options_;
  RecordSampler& sampler_;
  Keys keys_;
  Source source_;
  Keys::Scratch scratch_;
  std::string header_;
  Interval every_;
  Clock::time_point written_ = Clock::now();
  std::uint64_t written_at_ = 0;
  bool written_once_ = false, stopped_ = false;
  DedupStats stats_;
};

void run_sample(const SampleFlags& flags) {
  DedupOptions options = record_options(flags, !flags.weight.empty());
  options.key.importance = flags.weight;
  options.output = flags.run.output == "-" ? "" : flags.run.output;
  options.state = flags.run.state;
  check_reading(options);
  require_readable(options.inputs);
  RecordSampler sampler = open_sampler(flags);
  std::optional<StopOnSignal> stop;
  if (!flags.run.state.empty()) stop.emplace();
  const auto begin = Clock::now();
  SampleRun run(flags, options, sampler);
  run.run(stop ? &*stop : nullptr);
  if (!flags.run.state.empty()) sampler.save(flags.run.state);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const DedupStats& stats = run.stats();
  if (stats.bad > 0 && !flags.run.quiet)
    fmt::print(stderr, "weir: warning: {} record{} left out; the first: {}\n",
               show_count(stats.bad), stats.bad == 1 ? "" : "s", stats.first_bad);
  if (flags.run.stats == "json")
    fmt::print(
        stderr,
        "{{\"records\":{},\"bytes\":{},\"bad\":{},\"met\":{},\"held\":{},\"seconds\":{:.6f}}}\n",
        stats.records, stats.bytes, stats.bad, sampler.met(), sampler.held().size(), seconds);
  else if (!flags.run.stats.empty())
    fmt::print(
        stderr,
        "records  {} ({})\nbad      {}\nmet      {} in all\nheld     {}\ntime     {:.2f} s\n",
        show_count(stats.records), show_bytes(stats.bytes), show_count(stats.bad),
        show_count(sampler.met()), show_count(sampler.held().size()), seconds);
  if (run.stopped()) stop->end_by_it();
}

}  // namespace

void add_sample(CommandLine& line) {
  auto flags = std::make_shared<SampleFlags>();
  Command& command = line.command("sample", "Keep a fair sample of a stream without end");
  command.description = {
      "Reads records once and writes N of them, in the order of the input: every set of N records "
      "with the same probability, however long the stream turns out to be. Memory holds the "
      "sample and nothing else.",
      "With `--bias` recent records are likelier, with `--weight` important ones; with "
      "`--distinct` keys are sampled instead of records, so that frequent keys are no likelier "
      "than rare ones.",
      "Not for a share of a stream, as every hundredth record: `awk 'rand() < 0.01'` does that. "
      "Not for a shuffle of all of a file: `shuf`. The most frequent keys: `weir top`."};
  declare_files(command, *flags);
  declare_records(command, *flags);
  declare_keys(command, *flags, "leaves them out, as `drop` does");
  declare_sample(command, *flags);
  command.group(unlisted);
  command.size("--chunk", flags->chunk, "Bytes read at once, for tests");
  command.examples = {
      {"weir sample -n 100 access.log", "A hundred lines, each as likely as any other"},
      {"tail -f app.log | weir sample --bias 1M --every 1min -o recent.txt",
       "A sample of the recent past, written every minute"},
      {"weir sample --weight 3 -n 50 orders.txt", "Orders by their amount, in the third field"},
      {"weir sample --distinct --column user -n 200 events.csv", "An event of each of 200 users"}};
  command.see_also = "shuf(1)";
  command.run([flags] { run_sample(*flags); });
}

}  // namespace weir::cli
