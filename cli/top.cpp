// weir top: the keys that came most often, with what is certain of each.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "making.hpp"
#include "record_flags.hpp"
#include "record_job.hpp"
#include "sink/output.hpp"
#include "sizes.hpp"
#include "weir/error.hpp"
#include "weir/top.hpp"

namespace weir::cli {
namespace {

struct TopFlags : RecordFlags {
  RunFlags run;
  MakingFlags making;
  std::uint64_t number = 100;
  std::optional<std::uint64_t> text;
  std::optional<double> epsilon;
  bool list = false;

  TopFlags() { making.memory = 1 << 20; }
};

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

void declare_list(Command& command, TopFlags& flags) {
  command.group("List");
  command.value("-n,--number", flags.number, "N", "Keys to list")
      .between(1, std::uint64_t{1} << 30)
      .more("The first N of those that are held, or all of them where these are fewer.");
  flags.run.declare_output(command);
  flags.run.declare_stats(
      command, "Records, bad ones, keys that are held, and what is certain of the list.");
  command.group("State");
  flags.run.declare_state(command);
  command.toggle("--list", flags.list, "Read nothing, only list what the state holds");
  command.group("Size");
  flags.making.memory_flag =
      &command.size("-S,--memory", flags.making.memory, "Memory; takes K, M, G")
           .more(
               "80 bytes a key that is held, and 1 more for each byte of `--text` above 38. A key "
               "that makes up more than 1/keys held of the stream is held for certain.");
  command.value("--epsilon", flags.epsilon, "E", "Hold every key with more than a share E of all")
      .more("Above 0 and below 1: the size is 1/E keys then, if `-S` does not forbid it.");
  command.value("--text", flags.text, "BYTES", "Bytes of a key that are kept to be shown")
      .shown_as("38")
      .between(0, 4096)
      .more(
          "A longer key is counted by all its bytes, and shown by its first ones and `...` behind "
          "them.");
  flags.making.declare_hashing(command);
}

MakingFlags making_of(const TopFlags& flags) {
  MakingFlags making = flags.making;
  making.filter = "space-saving:text=" + std::to_string(flags.text.value_or(38));
  if (flags.epsilon) {
    if (!(*flags.epsilon > 0 && *flags.epsilon < 1))
      refuse("--epsilon must be above 0 and below 1");
    making.filter += fmt::format(",epsilon={}", *flags.epsilon);
  }
  return making;
}

StructurePtr open_top(const TopFlags& flags) {
  StructurePtr structure = load_if_there(flags.run.state);
  if (!structure) {
    if (flags.list)
      throw Error(ErrorCode::Io,
                  flags.run.state.empty()
                      ? "--list needs --state FILE, the list to show"
                      : "cannot open " + flags.run.state + ": there is no such file");
    return making_of(flags).make();
  }
  const Top* const top = as_top(*structure);
  const std::string what = fmt::format("{} holds {}:{}", flags.run.state, structure->info().name,
                                       structure->parameters());
  if (top == nullptr) refuse(what + ", which lists no keys; choose another state file");
  if (flags.epsilon) refuse(what + "; its size stays, so leave --epsilon out");
  if (flags.text && *flags.text != top->text_room())
    refuse(fmt::format("{}, not --text {}; leave the option out, or choose another state file",
                       what, *flags.text));
  require_agreement(*structure, flags.making, flags.run.state);
  return structure;
}

// The places an entry can have: as many keys are certainly more frequent, as many possibly.
class Places {
 public:
  Places(const std::vector<Top::Entry>& entries, std::uint64_t rest) : rest_(rest) {
    for (const Top::Entry& entry : entries)
      leasts_.push_back(entry.least), mosts_.push_back(entry.most);
    std::ranges::sort(leasts_), std::ranges::sort(mosts_);
  }
  [[nodiscard]] std::uint64_t best(const Top::Entry& entry) const {
    return 1 + above(leasts_, entry.most);
  }
  // Nothing: keys that are not held may be more frequent, too.
  [[nodiscard]] std::optional<std::uint64_t> worst(const Top::Entry& entry) const {
    if (rest_ > entry.least) return std::nullopt;
    return 1 + above(mosts_, entry.least) - (entry.most > entry.least ? 1 : 0);
  }
  [[nodiscard]] bool certain(const Top::Entry& entry) const { return worst(entry) == best(entry); }

 private:
  static std::uint64_t above(const std::vector<std::uint64_t>& sorted, std::uint64_t value) {
    return static_cast<std::uint64_t>(sorted.end() -
                                      std::upper_bound(sorted.begin(), sorted.end(), value));
  }
  std::vector<std::uint64_t> leasts_, mosts_;
  std::uint64_t rest_;
};

std::string shown_key(const Top::Entry& entry, bool nul) {
  if (!entry.named) return fmt::format("(digest {:016x})", entry.digest);
  std::string text;
  for (const char c : entry.text) {
    if (!nul && c == '\n')
      text += "\\n";
    else
      text += c;
  }
  if (entry.text_bytes > entry.text.size()) text += "...";
  return text;
}

// "3" where the place is certain, "3-5" where it is one of these, "3-" where it may be any.
std::string shown_place(const Places& places, const Top::Entry& entry) {
  const std::uint64_t best = places.best(entry);
  const auto worst = places.worst(entry);
  if (!worst) return fmt::format("{}-", best);
  return *worst == best ? fmt::format("{}", best) : fmt::format("{}-{}", best, *worst);
}

void write_list(const std::vector<Top::Entry>& entries, const Places& places,
                const TopFlags& flags) {
  std::string text;
  const char end = flags.nul ? '\0' : '\n';
  for (std::size_t i = 0; i < entries.size() && i < flags.number; ++i) {
    const Top::Entry& entry = entries[i];
    text += shown_place(places, entry);
    text += entry.least == entry.most ? fmt::format("\t{}\t", entry.most)
                                      : fmt::format("\t{}-{}\t", entry.least, entry.most);
    text += shown_key(entry, flags.nul) + end;
  }
  const bool to_file = !flags.run.output.empty() && flags.run.output != "-";
  Output output = to_file ? Output::create(flags.run.output) : Output(1, "the output");
  output.write(text, false, end);
  output.close();
}

void print_stats(const Top& top, const std::vector<Top::Entry>& entries, const Places& places,
                 const DedupStats& stats, const TopFlags& flags) {
  const std::uint64_t listed = std::min<std::uint64_t>(entries.size(), flags.number);
  std::uint64_t exact = 0, placed = 0;
  for (std::uint64_t i = 0; i < listed; ++i) {
    exact += entries[i].least == entries[i].most;
    placed += places.certain(entries[i]);
  }
  const bool json = flags.run.stats == "json";
  print_counting_stats(
      top, stats, top.total(), json,
      json ? fmt::format("\"held\":{},\"listed\":{},\"exact\":{},\"placed\":{},"
                         "\"others_at_most\":{}",
                         entries.size(), listed, exact, placed, top.rest())
           : fmt::format("held         {} keys; a key that is not held came {} times at most\n"
                         "certain      {} counts and {} places of the {} listed\n",
                         show_count(entries.size()), show_count(top.rest()), show_count(exact),
                         show_count(placed), show_count(listed)));
}

void run_top(const TopFlags& flags) {
  DedupOptions options = record_options(flags);
  options.emit = Emit::Nothing;
  options.state = flags.run.state;
  if (flags.list && !flags.files.empty()) refuse("--list reads nothing; leave the files out");
  const StructurePtr structure = open_top(flags);
  DedupStats stats;
  if (!flags.list) stats = run_records(*structure, options, flags.run);
  const Top& top = *as_top(*structure);
  const std::vector<Top::Entry> entries = top.entries();
  const Places places(entries, top.rest());
  write_list(entries, places, flags);
  if (!flags.run.stats.empty()) print_stats(top, entries, places, stats, flags);
}

}  // namespace

void add_top(CommandLine& line) {
  auto flags = std::make_shared<TopFlags>();
  Command& command = line.command("top", "List the keys that came most often, with bounds");
  command.description = {
      "Finds the most frequent keys of a stream in memory that does not grow, without knowing them "
      "before. Writes a line a key: its place, its count and the key, separated by tabs.",
      "A count is one number where it is exact, or `LEAST-MOST`: the key came at least and at most "
      "so often. A place is one number where it is certain, `3-5` where the key is one of the "
      "third to fifth, `3-` where it may also be further back than all that is held. Keys are "
      "listed by the larger bound of their count. More memory makes more of it certain.",
      "Every key that makes up more than 1/m of the stream is held, where m is the number of keys "
      "that fit into the memory (`-S`): 13,000 in 1 MiB.",
      "Not for the count of a key that is rare, or of all keys: `weir count` does that. Not for a "
      "stream whose keys come about equally often: the list is luck then, and its bounds say so. "
      "Where all different keys fit in memory, `sort | uniq -c | sort -rn` is exact."};
  declare_files(command, *flags);
  declare_records(command, *flags);
  declare_keys(command, *flags, "leaves them uncounted, as `drop` does");
  declare_list(command, *flags);
  declare_speed(command, *flags);
  command.examples = {
      {"weir top -n 20 -k 1 access.log", "The 20 addresses with the most hits"},
      {"weir top --pointer /user/id events.jsonl.zst", "The 100 users with the most events"},
      {"weir top --state hits.weir -k 7 today.log", "The most frequent so far, today's included"},
      {"weir top -S 64M --stats -n 1000 words.txt", "More of it certain, and how much"}};
  command.see_also = "sort(1), uniq(1)";
  command.run([flags] { run_top(*flags); });
}

}  // namespace weir::cli
