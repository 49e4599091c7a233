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

Table distances(const Setting& setting) {
  constexpr std::uint64_t memory = 256 << 10;
  constexpr double fpr = 0.01;
  std::vector<std::string> specs = setting.filters;
  if (specs.empty())
    specs = {"weir", "weir:e=1", "weir:a=2,e=3", "stable", "rsbf", "qht", "a2", "apbf"};
  // In units of what a store without waste would hold.
  const double ideal = 8.0 * memory / (std::log2(1 / fpr) + 1.44);
  Distances what;
  for (int i = 1; i <= 40; ++i)
    what.distances.push_back(static_cast<std::uint64_t>(ideal * 0.05 * i));
  Table table{"distances", {"filter", "distance", "of ideal keys", "FNR %", "+-", "FPR %"}, {}};
  const auto warm = static_cast<std::uint64_t>(8 * ideal);
  for (const std::string& spec : specs) {
    std::vector<Rate> missed(what.distances.size());
    Rate false_seen;
    for (unsigned seed = 1; seed <= setting.repeat; ++seed) {
      const FilterPtr filter = make_filter(spec, {.memory = memory, .fpr = fpr, .seed = seed});
      DistanceStream stream(what, seed);
      constexpr std::size_t batch = 4096;
      std::vector<std::uint64_t> keys(batch);
      std::vector<std::uint32_t> which(batch);
      std::vector<Digest> digests(batch);
      std::vector<Verdict> verdicts(batch);
      for (std::uint64_t done = 0; done < warm + 4'000'000; done += batch) {
        stream.fill(keys, which);
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
    }
    for (std::size_t i = 0; i < missed.size(); ++i)
      table.add({spec, std::to_string(what.distances[i]),
                 number(static_cast<double>(what.distances[i]) / ideal, 3),
                 percent(missed[i].value()), percent(missed[i].standard_error()),
                 percent(false_seen.value())});
  }
  return table;
}

}  // namespace weir::lab
