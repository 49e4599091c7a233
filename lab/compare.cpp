#include "compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "weir/catalog.hpp"

namespace weir::lab {
namespace {

// A filter whose cells take at most these bits. The budget counts the handle too, so it is raised
// until one line more would be too much.
FilterPtr make_of_bits(const std::string& spec, std::uint64_t bits, double fpr,
                       std::uint64_t seed) {
  std::uint64_t memory = bits / 8 + budget_reserve + 8192;
  FilterPtr best;
  for (int i = 0; i < 64; ++i) {
    FilterPtr made = make_filter(spec, {.memory = memory, .fpr = fpr, .seed = seed});
    const std::uint64_t now = made->payload().size() * 8;
    if (now <= bits) best = std::move(made);
    const std::uint64_t limit = bits / 512 * 512;
    if (now == limit || (best && now > limit)) break;
    memory = now > limit ? memory - (now - limit + 7) / 8 : memory + (limit - now) / 8;
  }
  if (!best)
    throw Error(ErrorCode::Config, spec + " does not fit " + std::to_string(bits) + " bits");
  return best;
}

Entry run(const std::string& spec, double aim, const Contest& contest, const Recording& recording) {
  Entry entry;
  for (unsigned i = 0; i < contest.seeds; ++i) {
    const std::uint64_t seed = contest.first_seed + i;
    const FilterPtr filter = make_of_bits(spec, contest.bits, aim, seed);
    entry.parameters = filter->parameters();
    const auto before = std::chrono::steady_clock::now();
    const Measured m = measure(*filter, recording, seed);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - before;
    entry.runs.push_back({seed, m.fpr.value(), m.fnr.value(),
                          took.count() / static_cast<double>(recording.keys.size())});
    entry.fpr += m.fpr.value() / contest.seeds, entry.fnr += m.fnr.value() / contest.seeds;
  }
  return entry;
}

class Search {
 public:
  Search(const Contest& contest, const Recording& recording)
      : contest_(contest), recording_(recording) {}

  // Whether this setting keeps the FPR; the best of those that do is remembered.
  bool keeps(const std::string& spec, double aim) {
    const std::string parameters =
        make_of_bits(spec, contest_.bits, aim, contest_.first_seed)->parameters();
    auto found = known_.find(parameters);
    if (found == known_.end())
      found = known_.emplace(parameters, run(spec, aim, contest_, recording_)).first;
    const Entry& entry = found->second;
    if (entry.fpr > contest_.fpr) return false;
    if (!best || entry.fnr < best->fnr) best = entry;
    return true;
  }
  std::optional<Entry> best;

 private:
  const Contest& contest_;
  const Recording& recording_;
  // Settings are few (a number of probes, of bits): those that come out equal are run once.
  std::map<std::string, Entry> known_;
};

// The value of one of an entry's parameters, 0 if it has none of that name.
unsigned parameter(const Entry& entry, const std::string& name) {
  const auto at = ("," + entry.parameters).find("," + name + "=");
  return at == std::string::npos
             ? 0
             : static_cast<unsigned>(std::stoul(entry.parameters.substr(at + name.size() + 1)));
}

}  // namespace

std::uint64_t ideal_keys(std::uint64_t bits, double fpr) {
  return static_cast<std::uint64_t>(static_cast<double>(bits) / (std::log2(1 / fpr) + 1.44));
}

std::optional<Entry> enter(const std::string& spec, const Contest& contest,
                           const Recording& recording) {
  Search search(contest, recording);
  const auto keeps = [&](double aim) { return search.keeps(spec, aim); };
  // The realised FPR is below the aim while a filter fills up, and may be above it where the
  // aim is only aimed at: look on both sides.
  double low = std::max(1e-12, contest.fpr / 64), high = std::min(0.9, contest.fpr * 64);
  for (int i = 0; i < 4 && !keeps(low); ++i) low = std::max(1e-12, low / 64);
  if (!search.best || keeps(high)) return search.best;
  for (int i = 0; i < 14; ++i) {
    const double middle = std::sqrt(low * high);
    (keeps(middle) ? low : high) = middle;
  }
  // Fewer buckets are the finer step of the weir filter: as many slots, a little more FPR.
  if (unsigned buckets = parameter(*search.best, "B"); buckets != 0) {
    const std::string fixed = spec + (spec.find(':') == std::string::npos ? ":" : ",") +
                              "n=" + std::to_string(parameter(*search.best, "n")) + ",B=";
    while (--buckets != 0 && search.keeps(fixed + std::to_string(buckets), 0.5)) continue;
  }
  return search.best;
}

}  // namespace weir::lab
