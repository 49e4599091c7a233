// Every filter on real streams, at 2, 4 and 8 bits a distinct key and an FPR of 1 % and 0.1 %,
// beside the ideal LRU in as many bits.
#include "compare.hpp"
#include "experiment.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir::lab {

namespace {

std::vector<std::string> specs_of(const Setting& setting) {
  std::vector<std::string> specs = setting.filters;
  if (specs.empty())
    for (const StructureInfo* info : catalog())
      // The IBFs with one importance are SBFs, and take no FPR.
      if (info->kind == Kind::Filter && std::string_view(info->name).substr(0, 3) != "ibf")
        specs.emplace_back(info->name);
  return specs;
}

struct Rules {
  std::string trace;
  double fpr;
  unsigned bits_a_key;
  [[nodiscard]] std::string row() const {
    return trace.substr(trace.rfind('/') + 1) + ", " + std::to_string(bits_a_key) +
           " bits a key, FPR at most " + percent(fpr, 1) + " %";
  }
};

std::vector<Measurement> run(const Rules& rules, const std::string& spec, unsigned seeds) {
  const Recording recording = record(read_trace(rules.trace));
  const Contest contest{
      .bits = rules.bits_a_key * recording.distinct, .fpr = rules.fpr, .seeds = seeds};
  std::vector<Measurement> all;
  if (spec == "ideal LRU") {
    const std::uint64_t keys = ideal_keys(contest.bits, rules.fpr);
    all.push_back({rules.row(), spec, "keys=" + std::to_string(keys), 0, 0, "fnr",
                   ideal_lru(recording, keys).value()});
  } else if (const auto entry = enter(spec, contest, recording)) {
    for (const Run& r : entry->runs) {
      all.push_back({rules.row(), spec, entry->parameters, r.seed, 0, "fnr", r.fnr});
      all.push_back({rules.row(), spec, entry->parameters, r.seed, 0, "fpr", r.fpr});
      all.push_back({rules.row(), spec, entry->parameters, r.seed, 0, "ns", r.ns});
    }
  }
  return all;
}

std::vector<Part> parts(const Setting& setting) {
  if (setting.traces.empty())
    throw Error(ErrorCode::Config, "compare needs a stream: give a file of keys with --trace");
  std::vector<std::string> specs = {"ideal LRU"};
  for (const std::string& spec : specs_of(setting)) specs.push_back(spec);
  std::vector<Part> parts;
  for (const std::string& trace : setting.traces)
    for (const double fpr : {0.01, 0.001})
      for (const unsigned bits : {2u, 4u, 8u})
        for (const std::string& spec : specs) {
          const Rules rules{trace, fpr, bits};
          parts.push_back({rules.row() + ", " + spec, 5, 64 << 20,
                           [rules, spec, setting] { return run(rules, spec, setting.repeat); }});
        }
  return parts;
}

Section present(const Setting& setting, const Results& results) {
  Section section{"Every filter at equal memory and equal realised FPR", {}, {}, {}};
  section.text = {
      "Each filter is tuned until what the stream really shows stays at or below the FPR, in the "
      "same bits; the ideal LRU holds as many keys as a store without waste."};
  Table table{"compare", {"row", "filter", "FNR %", "of LRU's", "FPR %", "ns", "parameters"}, {}};
  for (const std::string& row : results.rows()) {
    const double lru = results.mean(row, "ideal LRU", "fnr").value;
    table.add({row, "ideal LRU", percent(lru), "1", "", "", results.parameters(row, "ideal LRU")});
    for (const std::string& spec : specs_of(setting)) {
      const Mean fnr = results.mean(row, spec, "fnr"), fpr = results.mean(row, spec, "fpr");
      if (fnr.seeds == 0) {
        table.add({row, spec, "", "", "cannot", "", ""});
        continue;
      }
      table.add({row, spec, percent(fnr.value) + " ± " + percent(fnr.error),
                 lru == 0 ? "" : number(fnr.value / lru, 3), percent(fpr.value),
                 number(results.mean(row, spec, "ns").value, 3), results.parameters(row, spec)});
    }
  }
  section.tables = {table};
  return section;
}

}  // namespace

std::vector<Experiment> compare_filters() {
  return {{"compare", "every filter on a trace at equal memory and realised FPR", parts, present}};
}

}  // namespace weir::lab
