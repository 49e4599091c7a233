// weir demo: the main job on a generated stream, measured against the exact answer.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <vector>

#include "commands.hpp"
#include "core/bits.hpp"
#include "sizes.hpp"
#include "weir/catalog.hpp"

namespace weir::cli {
namespace {

struct Measured {
  std::uint64_t firsts = 0, repeats = 0, false_seen = 0, false_new = 0, passed = 0;
  double seconds = 0;
};

// Calls as text, the same key for the same caller; the exact answer is a bit a caller.
class CallRecords {
 public:
  explicit CallRecords(std::uint64_t callers) : callers_(callers), met_(callers) {}
  // Writes the next record's key; true when it came before.
  bool next(std::string& key) {
    const std::uint64_t caller = draws_.below(callers_);
    key.clear();
    fmt::format_to(std::back_inserter(key), "call;+49{:011};cell-{:05}", caller,
                   mix(caller, 1) % 99991);
    const bool before = met_[caller];
    met_[caller] = true;
    return before;
  }

 private:
  std::uint64_t callers_;
  Draws draws_{2026};
  std::vector<bool> met_;
};

Measured measure(Filter& filter, std::uint64_t records, std::uint64_t callers) {
  constexpr std::size_t batch = 1024;
  CallRecords stream(callers);
  Measured m;
  std::vector<std::string> texts(batch);
  std::vector<std::string_view> keys(batch);
  std::vector<Digest> digests(batch);
  std::vector<Verdict> verdicts(batch);
  std::vector<char> before(batch);
  for (std::uint64_t done = 0; done < records;) {
    const std::size_t n = std::min<std::uint64_t>(batch, records - done);
    for (std::size_t i = 0; i < n; ++i)
      before[i] = stream.next(texts[i]) ? 1 : 0, keys[i] = texts[i];
    const auto start = std::chrono::steady_clock::now();
    filter.digester()(std::span(keys).first(n), std::span(digests).first(n));
    filter.observe(std::span(digests).first(n), std::span(verdicts).first(n));
    m.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (std::size_t i = 0; i < n; ++i) {
      const bool seen = verdicts[i] == Verdict::Seen;
      m.passed += !seen;
      (before[i] != 0 ? m.repeats : m.firsts) += 1;
      m.false_new += before[i] != 0 && !seen;
      m.false_seen += before[i] == 0 && seen;
    }
    done += n;
  }
  return m;
}

void show_first_records(std::uint64_t callers) {
  const FilterPtr filter = make_filter("weir", {.memory = 1 << 20, .seed = 1});
  CallRecords stream(callers);
  std::string key;
  fmt::print("The stream, as `weir dedup --mark` would show it (0 new, 1 seen):\n");
  for (int i = 0; i < 3; ++i) {
    stream.next(key);
    fmt::print("  {}\t{}\n", static_cast<int>(filter->observe(filter->digest(key))), key);
  }
  fmt::print("  {}\t{}\n", static_cast<int>(filter->observe(filter->digest(key))), key);
}

void run_demo(std::uint64_t budget, std::uint64_t records) {
  const std::uint64_t callers = records / 2;
  show_first_records(callers);
  fmt::print(
      "\n{} call records of {} callers, {} of memory, FPR aim 1 %. Measured against the exact "
      "answer; predicted before the stream was read.\n\n",
      show_count(records), show_count(callers), show_bytes(budget));
  fmt::print("{:<14} {:>11} {:>11} {:>11}   {:<17} {:<17} {:>10} {:>9}\n", "filter", "records in",
             "first out", "caught", "FPR (predicted)", "FNR (predicted)", "memory", "million/s");
  for (const char* name : {"weir", "stable", "rsbf", "blocked-bloom"}) {
    const FilterPtr filter =
        make_filter(name, {.memory = budget, .fpr = 0.01, .keys = callers, .seed = 1});
    const Prediction predicted =
        filter->predict({.records = records, .universe = static_cast<double>(callers)});
    const Measured m = measure(*filter, records, callers);
    const auto rate = [](std::uint64_t errors, std::uint64_t of, double expected) {
      const double share = of == 0 ? 0 : static_cast<double>(errors) / static_cast<double>(of);
      return fmt::format("{:.3f} % ({:.3f})", share * 100, expected * 100);
    };
    fmt::print("{:<14} {:>11} {:>11} {:>11}   {:<17} {:<17} {:>10} {:>9.1f}\n", name,
               show_count(records), show_count(m.passed), show_count(records - m.passed),
               rate(m.false_seen, m.firsts, predicted.fpr),
               rate(m.false_new, m.repeats, predicted.fnr), show_bytes(filter->memory()),
               static_cast<double>(records) / m.seconds / 1e6);
  }
  fmt::print(
      "\nFPR: new records taken for repeats. FNR: repeats let through.\n"
      "On a longer stream weir, stable and rsbf settle, however long it gets; blocked-bloom fills "
      "up.\n"
      "Yours: weir dedup -S 64M < your.log\n");
}

}  // namespace

void add_demo(CommandLine& line) {
  struct Options {
    std::uint64_t memory = 2 << 20;
    std::uint64_t records = 4'000'000;
  };
  auto options = std::make_shared<Options>();
  Command& command = line.command("demo", "Show the main job on a generated stream");
  command.description = {
      "Sends generated call records through four filters, and compares what each let through with "
      "the exact answer, and with what it predicted before."};
  command.size("-S,--memory", options->memory, "Memory of each filter");
  command.value("--records", options->records, "N", "Length of the stream")
      .between(1000, 1'000'000'000);
  command.run([options] { run_demo(options->memory, options->records); });
}

}  // namespace weir::cli
