// Every filter on real streams, at 2, 4 and 8 bits a distinct key and an FPR of 1 % and 0.1 %,
// beside the ideal LRU in as many bits.
#include "compare.hpp"
#include "experiment.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir::lab {

Table contest(const Setting& setting) {
  if (setting.traces.empty())
    throw Error(ErrorCode::Config, "compare needs a stream: give a file of keys with --trace");
  std::vector<std::string> specs = setting.filters;
  if (specs.empty())
    for (const StructureInfo* info : catalog())
      // The IBFs with one importance are SBFs, and take no FPR.
      if (info->kind == Kind::Filter && std::string_view(info->name).substr(0, 3) != "ibf")
        specs.emplace_back(info->name);
  Table table{"compare",
              {"trace", "bits/key", "FPR at most %", "filter", "FNR %", "+-", "of LRU's", "FPR %",
               "ns", "parameters"},
              {}};
  for (const std::string& path : setting.traces) {
    const Recording recording = record(read_trace(path));
    const std::string name = path.substr(path.rfind('/') + 1);
    for (const double fpr : {0.01, 0.001})
      for (const unsigned bits_a_key : {2u, 4u, 8u}) {
        const Contest rules{
            .bits = bits_a_key * recording.distinct, .fpr = fpr, .seeds = setting.repeat};
        const Rate lru = ideal_lru(recording, ideal_keys(rules.bits, fpr));
        const auto row = [&](const std::string& filter, std::vector<std::string> figures) {
          std::vector<std::string> cells = {name, std::to_string(bits_a_key), percent(fpr, 1),
                                            filter};
          cells.insert(cells.end(), figures.begin(), figures.end());
          table.add(std::move(cells));
        };
        row("ideal LRU", {percent(lru.value()), "", "1", "", "", ""});
        for (const std::string& spec : specs) {
          const auto entry = enter(spec, rules, recording);
          if (!entry)
            row(spec, {"", "", "", "cannot", "", ""});
          else
            row(spec, {percent(entry->fnr), percent(entry->fnr_error),
                       lru.events == 0 ? "" : number(entry->fnr / lru.value(), 3),
                       percent(entry->fpr), number(entry->ns, 3), entry->parameters});
        }
      }
  }
  return table;
}

}  // namespace weir::lab
