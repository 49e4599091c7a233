// An endless stream of new keys with repeats at known distances: the share of repeats missed, by
// distance. Each filter has the same bits and is made for the same steady FPR. The filter is
// full before anything is counted.
#include <cmath>

#include "core/bits.hpp"
#include "experiment.hpp"
#include "measure.hpp"
#include "stream.hpp"
#include "weir/catalog.hpp"

namespace weir::lab {
namespace {

constexpr std::uint64_t memory = 256 << 10, counted = 4'000'000;
constexpr double fpr = 0.01;
// What a store without waste would hold: the unit of the distances.
const double ideal = 8.0 * memory / (std::log2(1 / fpr) + 1.44);

std::vector<std::string> specs_of(const Setting& setting) {
  if (!setting.filters.empty()) return setting.filters;
  return {"weir", "weir:e=1", "weir:a=2,e=3", "stable", "rsbf", "qht", "a2", "apbf"};
}

std::vector<Measurement> run(const std::string& spec, std::uint64_t seed) {
  Distances what;
  for (int i = 1; i <= 40; ++i)
    what.distances.push_back(static_cast<std::uint64_t>(ideal * 0.05 * i));
  const auto warm = static_cast<std::uint64_t>(8 * ideal);
  std::vector<Rate> missed(what.distances.size());
  Rate false_seen;
  const FilterPtr filter = make_filter(spec, {.memory = memory, .fpr = fpr, .seed = seed});
  DistanceStream stream(what, seed);
  constexpr std::size_t batch = 4096;
  std::vector<std::uint64_t> keys(batch);
  std::vector<std::uint32_t> which(batch);
  std::vector<Digest> digests(batch);
  std::vector<Verdict> verdicts(batch);
  for (std::uint64_t done = 0; done < warm + counted; done += batch) {
    stream.fill_with_distances(keys, which);
    for (std::size_t i = 0; i < batch; ++i) digests[i] = mix(keys[i], mix(seed, 5));
    filter->observe(digests, verdicts);
    if (done < warm) continue;
    for (std::size_t i = 0; i < batch; ++i) {
      const bool seen = verdicts[i] == Verdict::Seen;
      Rate& rate = which[i] == DistanceStream::fresh ? false_seen : missed[which[i]];
      rate.of += 1;
      rate.events += seen == (which[i] == DistanceStream::fresh) ? 1 : 0;
    }
  }
  std::vector<Measurement> all;
  const std::string parameters = filter->parameters();
  all.push_back({"distances", spec, parameters, seed, 0, "fpr", false_seen.value()});
  for (std::size_t i = 0; i < missed.size(); ++i)
    all.push_back({"distances", spec, parameters, seed,
                   static_cast<double>(what.distances[i]) / ideal, "fnr", missed[i].value()});
  return all;
}

std::vector<Part> parts(const Setting& setting) {
  std::vector<Part> parts;
  for (const std::string& spec : specs_of(setting))
    for (unsigned seed = 1; seed <= setting.repeat; ++seed)
      parts.push_back({spec + "-" + std::to_string(seed), 2, 32 << 20,
                       [spec, seed] { return run(spec, seed); }});
  return parts;
}

Section present(const Setting&, const Results& results) {
  Section section{"How far back a filter remembers", {}, {}, {}};
  section.text = {
      "New keys without end, and repeats at known distances: the share of repeats missed. Every "
      "filter has 256 KiB and is made for an FPR of 1 %; the distance is in keys that a store "
      "without waste would hold. A window is a step; the less a line leans, the nearer it is to "
      "one."};
  Chart chart{"distances",
              "Repeats missed, by distance",
              "distance, in keys of an ideal store",
              "repeats missed (%)",
              {}};
  Table table{"distances", {"filter", "FPR %", "half missed at", "parameters"}, {}};
  for (const std::string& spec : results.series("distances")) {
    Line line{spec, {}};
    std::string half = "beyond 2";
    for (const double x : results.xs("distances", spec, "fnr")) {
      const Mean mean = results.mean("distances", spec, "fnr", x);
      if (mean.value >= 0.5 && half == "beyond 2") half = number(x, 3);
      line.points.push_back({x, 100 * mean.value, 100 * mean.error});
    }
    chart.lines.push_back(line);
    const Mean mean = results.mean("distances", spec, "fpr");
    table.add({spec, percent(mean.value) + " ± " + percent(mean.error), half,
               results.parameters("distances", spec)});
  }
  section.tables = {table};
  section.charts = {chart};
  return section;
}

}  // namespace

std::vector<Experiment> repeat_distances() {
  return {
      {"distances", "share of repeats missed, by how far back the first one lies", parts, present}};
}

}  // namespace weir::lab
