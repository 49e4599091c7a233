#include "plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sizes.hpp"

namespace weir::cli {
namespace {

std::string name_of(const Candidate& c) { return c.spec.substr(0, c.spec.find(':')); }

std::string show_fnr(const Candidate& c) { return c.fnr ? show_percent(*c.fnr) : "not known"; }

// A tenth of a machine's memory is left to everything else.
std::uint64_t machines_for(const PlanReport& report) {
  const auto room = static_cast<double>(report.machine) * 0.9;
  const auto memory = static_cast<double>(report.plan.best.request.memory);
  if (report.machine == 0 || memory <= static_cast<double>(report.machine)) return 1;
  return static_cast<std::uint64_t>(std::ceil(memory / room));
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}
std::string json_rate(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.6g}", *rate) : "null";
}
std::string json_candidate(const Candidate& c) {
  if (!c.trouble.empty())
    return fmt::format("{{\"filter\": {}, \"trouble\": {}}}", quoted(name_of(c)),
                       quoted(c.trouble));
  return fmt::format(
      "{{\"filter\": {}, \"spec\": {}, \"memory\": {}, \"bytes\": {}, \"fpr\": {:.6g}, \"fnr\": "
      "{}, "
      "\"source\": {}}}",
      quoted(name_of(c)), quoted(name_of(c) + ":" + c.parameters), c.request.memory, c.bytes, c.fpr,
      json_rate(c.fnr), quoted(c.source));
}

void row(const char* title, const std::string& text) { fmt::print("{:<9} {}\n", title, text); }

void print_sample(const StreamSample& sample) {
  const auto n = [](double x) { return show_count(static_cast<std::uint64_t>(x + 0.5)); };
  row("sample", fmt::format("{} records, about {} different keys, {} of them once",
                            show_count(sample.records()), n(sample.distinct()),
                            show_percent(sample.keys_met_once())));
  if (sample.distance(0.5) > 0)
    row("", fmt::format("repeats come after {} records or fewer (half of them), {} (9 of 10)",
                        n(sample.distance(0.5)), n(sample.distance(0.9))));
  if (sample.share() < 1) row("", fmt::format("seen through 1 of {} keys", n(1 / sample.share())));
}

void print_machines(const PlanReport& report) {
  const std::uint64_t machines = machines_for(report);
  if (machines == 1) return;
  const Candidate& best = report.plan.best;
  const auto part = static_cast<double>(best.request.memory) / static_cast<double>(machines);
  row("machines", fmt::format("{} of {}: each owns 1/{} of the digests, by their first bits",
                              machines, show_bytes(report.machine), machines));
  std::string holds = fmt::format("each holds {}", show_bytes(static_cast<std::uint64_t>(part)));
  if (report.plan.distinct > 0)
    holds +=
        fmt::format(" and {} keys", show_count(static_cast<std::uint64_t>(
                                        report.plan.distinct / static_cast<double>(machines))));
  row("", holds + "; a record costs 8 bytes to its owner, 1 bit back");
}

}  // namespace

std::string dedup_line(const Candidate& c) {
  constexpr std::string_view window = "apbf:window=";  // which dedup keeps by itself
  const std::string filter =
      c.spec.rfind(window, 0) == 0 ? "--window " + c.spec.substr(window.size()) : "-f " + c.spec;
  std::string line = fmt::format("weir dedup {} -S {} --fpr {:.6g}", filter,
                                 write_size(c.request.memory), c.request.fpr);
  if (c.request.keys != 0) line += fmt::format(" -n {}", c.request.keys);
  return line;
}

void print_text(const PlanReport& report) {
  const Plan& plan = report.plan;
  const Candidate& best = plan.best;
  row("filter", fmt::format("{}: {}", name_of(best), plan.why));
  row("spec", fmt::format("{}:{}", name_of(best), best.parameters));
  row("memory", fmt::format("{} ({} bytes, everything included)", show_bytes(best.request.memory),
                            show_count(best.bytes)));
  row("FPR", fmt::format("{} of new records taken for repeats", show_percent(best.fpr)));
  const bool window = best.spec.find(":window=") != std::string::npos;
  row("FNR", best.fnr ? fmt::format("{} of repeats{} let through", show_percent(*best.fnr),
                                    window ? " within the window" : "")
                      : std::string("not known"));
  row("from", best.source);
  if (plan.distinct > 0)
    row("keys", fmt::format("{} different ones expected",
                            show_count(static_cast<std::uint64_t>(plan.distinct + 0.5))));
  if (report.sample != nullptr) print_sample(*report.sample);
  if (report.rate)
    row("speed",
        fmt::format("{:.1f} million records a second: the filter alone, one thread, {} of "
                    "it, here",
                    report.rate->records_per_second / 1e6, show_bytes(report.rate->bytes)));
  print_machines(report);
  row("run", dedup_line(best));
  for (const std::string& note : plan.notes) row("note", note);

  fmt::print("\nAt the same memory and wanted FPR:\n{:<14} {:>11} {:>11} {:>20}\n", "filter", "FPR",
             "FNR", "bytes");
  for (const Candidate& c : plan.others)
    if (c.trouble.empty())
      fmt::print("{:<14} {:>11} {:>11} {:>20}\n", name_of(c), show_percent(c.fpr), show_fnr(c),
                 show_count(c.bytes));
    else
      fmt::print("{:<14} {}\n", name_of(c), c.trouble);
}

void print_json(const PlanReport& report) {
  const Plan& plan = report.plan;
  std::string notes, others;
  for (const std::string& note : plan.notes) notes += (notes.empty() ? "" : ", ") + quoted(note);
  for (const Candidate& c : plan.others)
    others += (others.empty() ? "\n    " : ",\n    ") + json_candidate(c);
  fmt::print("{{\n  \"plan\": {},\n  \"why\": {},\n  \"run\": {},\n", json_candidate(plan.best),
             quoted(plan.why), quoted(dedup_line(plan.best)));
  if (plan.distinct > 0) fmt::print("  \"keys\": {:.0f},\n", plan.distinct);
  if (report.rate)
    fmt::print("  \"records_per_second\": {:.0f},\n  \"measured_bytes\": {},\n",
               report.rate->records_per_second, report.rate->bytes);
  if (report.sample != nullptr)
    fmt::print(
        "  \"sample\": {{\"records\": {}, \"distinct\": {:.0f}, \"share_of_keys\": {:g}, "
        "\"met_once\": {:.6g}, \"distance_half\": {:.0f}, \"distance_9_of_10\": {:.0f}}},\n",
        report.sample->records(), report.sample->distinct(), report.sample->share(),
        report.sample->keys_met_once(), report.sample->distance(0.5), report.sample->distance(0.9));
  fmt::print("  \"machines\": {},\n  \"notes\": [{}],\n  \"candidates\": [{}\n  ]\n}}\n",
             machines_for(report), notes, others);
}

}  // namespace weir::cli
