// The streams of the RSBF paper's Tables 2 to 5: RSBF and SBF as printed there, and weir in as many
// bits at an FPR no higher than what each of them showed. Tables 4 and 5 are scaled: the errors
// depend on records, memory and keys only through their ratios.
#include <algorithm>

#include "compare.hpp"
#include "experiment.hpp"
#include "paper_rows.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

// Tables 2 and 3 are small enough as they are, but for a quick look.
double scale_of(const PaperRow& row, const Setting& setting) {
  const bool quick = setting.scale < 0.01;
  return row.table == 2 ? 1 : row.table == 3 ? (quick ? 10 * setting.scale : 1) : setting.scale;
}

std::vector<Measurement> run(const PaperRow& row, bool is_rsbf, const Setting& setting) {
  const auto [records, universe, bits] = scaled(row, scale_of(row, setting));
  const std::string name = "table " + std::to_string(row.table) + ", " + std::to_string(row.bits) +
                           " bits, FPR of " + (is_rsbf ? "rsbf" : "stable");
  const std::string rival = is_rsbf
                                ? "rsbf:k=" + std::to_string(row.k) + ",M=" + std::to_string(bits)
                                : "stable:Max=1,K=2,P=4,m=" + std::to_string(bits);
  const Recording recording = record(*uniform(universe, 7), records, universe);
  std::vector<Measurement> all;
  const auto keep = [&](const std::string& series, const std::string& parameters,
                        std::uint64_t seed, double fpr, double fnr) {
    all.push_back({name, series, parameters, seed, 0, "fpr", fpr});
    all.push_back({name, series, parameters, seed, 0, "fnr", fnr});
  };
  all.push_back({name, "stream", "", 7, 0, "bits a key",
                 static_cast<double>(bits) / static_cast<double>(recording.distinct)});
  double theirs = 0;
  for (unsigned seed = 1; seed <= setting.repeat; ++seed) {
    const FilterPtr filter = make_filter(rival, {.seed = seed});
    const Measured m = measure(*filter, recording, seed);
    keep(is_rsbf ? "rsbf" : "stable", filter->parameters(), seed, m.fpr.value(), m.fnr.value());
    theirs += m.fpr.value() / setting.repeat;
  }
  const Contest contest{.bits = bits, .fpr = theirs, .seeds = setting.repeat};
  std::optional<Entry> best;
  for (const char* spec : {"weir", "weir:a=0"}) {
    const auto entry = enter(spec, contest, recording);
    if (entry && (!best || entry->fnr < best->fnr)) best = entry;
  }
  if (!best) throw Error(ErrorCode::Config, "no weir filter keeps the FPR");
  for (const Run& r : best->runs) keep("weir", best->parameters, r.seed, r.fpr, r.fnr);
  return all;
}

std::vector<Part> parts(const Setting& setting) {
  if (setting.scale < 1e-4)
    throw Error(ErrorCode::Config, "--scale " + number(setting.scale) +
                                       " is too small to mean anything; the least is 0.0001");
  std::vector<Part> parts;
  for (const PaperRow& row : paper_rows) {
    const double scale = scale_of(row, setting), records = static_cast<double>(row.records) * scale;
    if (static_cast<double>(row.bits) * scale < 1024)
      continue;  // what is left must fill some lines
    for (const bool is_rsbf : {true, false})
      parts.push_back(
          {"table-" + std::to_string(row.table) + "-" + std::to_string(row.bits) +
               (is_rsbf ? "-rsbf" : "-stable"),
           records * 2.5e-6 * setting.repeat,
           static_cast<std::uint64_t>(5 * records + static_cast<double>(row.bits) / 4 * scale),
           [row, is_rsbf, setting] { return run(row, is_rsbf, setting); }});
  }
  return parts;
}

Section present(const Setting&, const Results& results) {
  Section section{"weir against RSBF and SBF", {}, {}, {}};
  section.text = {
      "RSBF and SBF as printed in Tables 2 to 5 of the RSBF paper, and weir in as many bits at an "
      "FPR no higher than what each of them showed here."};
  Table table{
      "weir-tables",
      {"row", "bits a key", "rival", "its FNR %", "its FPR %", "weir FNR %", "weir FPR %", "weir"},
      {}};
  for (const std::string& row : results.rows()) {
    const std::string rival = results.series(row)[1];
    const auto shown = [&](const std::string& series, const char* what, int digits) {
      const Mean mean = results.mean(row, series, what);
      return percent(mean.value, digits) + " ± " + percent(mean.error, digits);
    };
    table.add({row.substr(0, row.find(", FPR")),
               number(results.mean(row, "stream", "bits a key").value, 3), rival,
               shown(rival, "fnr", 3), shown(rival, "fpr", 4), shown("weir", "fnr", 3),
               shown("weir", "fpr", 4), results.parameters(row, "weir")});
  }
  section.tables = {table};
  return section;
}

}  // namespace

std::vector<Experiment> weir_tables() {
  return {{"weir-tables", "weir against RSBF and SBF on the streams of Tables 2 to 5", parts,
           present, 0.01}};
}

}  // namespace weir::lab
