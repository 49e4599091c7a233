#include "compare.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
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

// Of this thread alone: the others of a run, and of the machine, do not count.
double thread_nanoseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

Entry run(const std::string& spec, double aim, const Contest& contest,
          std::span<const Recording> recordings) {
  Entry entry;
  for (unsigned i = 0; i < contest.seeds; ++i) {
    const Recording& recording = recordings[i % recordings.size()];
    const std::uint64_t seed = contest.first_seed + i;
    const FilterPtr filter = make_of_bits(spec, contest.bits, aim, seed);
    entry.parameters = filter->parameters();
    entry.bits = filter->payload().size() * 8;
    const double before = thread_nanoseconds();
    const Measured m = measure(*filter, recording, seed);
    const double took = thread_nanoseconds() - before;
    entry.runs.push_back(
        {seed, m.fpr.value(), m.fnr.value(), took / static_cast<double>(recording.keys.size())});
    entry.fpr += m.fpr.value() / contest.seeds, entry.fnr += m.fnr.value() / contest.seeds;
  }
  return entry;
}

class Search {
 public:
  Search(const Contest& contest, std::span<const Recording> recordings)
      : contest_(contest), recordings_(recordings) {}

  // Whether this setting keeps the FPR; the best of those that do is remembered.
  bool keeps(const std::string& spec, double aim) {
    std::string parameters;
    try {
      parameters = make_of_bits(spec, contest_.bits, aim, contest_.first_seed)->parameters();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::Config) return false;  // there is none in so many bits
      throw;
    }
    auto found = known_.find(parameters);
    if (found == known_.end())
      found = known_.emplace(parameters, run(spec, aim, contest_, recordings_)).first;
    const Entry& entry = found->second;
    last = entry;
    if (entry.fpr > contest_.fpr) return false;
    if (!best || entry.fnr < best->fnr) best = entry;
    return true;
  }
  std::optional<Entry> best;
  Entry last;  // what was asked for last

 private:
  const Contest& contest_;
  std::span<const Recording> recordings_;
  // Settings are few (a number of probes, of bits): those that come out equal are run once.
  std::map<std::string, Entry> known_;
};

// The entry's spec with one less of a parameter; nothing where there is no less.
std::optional<std::string> with_one_less(const std::string& spec, const Entry& entry,
                                         const std::string& name) {
  const std::string all = "," + entry.parameters;
  const auto at = all.find("," + name + "=");
  if (at == std::string::npos) return std::nullopt;
  const auto from = at + name.size() + 2, to = std::min(all.find(',', from), all.size());
  const std::uint64_t value = std::stoull(all.substr(from, to - from));
  if (value <= 1) return std::nullopt;
  return spec.substr(0, spec.find(':')) + ":" + all.substr(1, from - 1) +
         std::to_string(value - 1) + all.substr(to);
}

}  // namespace

std::uint64_t ideal_keys(std::uint64_t bits, double fpr) {
  return static_cast<std::uint64_t>(static_cast<double>(bits) / (std::log2(1 / fpr) + 1.44));
}

std::optional<Entry> enter(const std::string& spec, const Contest& contest,
                           std::span<const Recording> recordings) {
  Search search(contest, recordings);
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
  // Where the filter knows a step that is finer than those of the aim, it goes on by that.
  const StructureInfo* const info = find_structure(spec.substr(0, spec.find(':')));
  if (info->fine != nullptr) {
    auto next = with_one_less(spec, *search.best, info->fine);
    for (; next && search.keeps(*next, 0.5); next = with_one_less(spec, search.last, info->fine))
      continue;
  }
  return search.best;
}

bool takes_fpr(const std::string& spec) {
  constexpr std::uint64_t bits = 1 << 20;
  return make_of_bits(spec, bits, 0.1, 1)->parameters() !=
         make_of_bits(spec, bits, 0.001, 1)->parameters();
}

double floor_bits(double fnr, double fpr) {
  const double p = 1 - fnr;
  if (p <= fpr) return 0;
  const auto term = [](double a, double b) { return a <= 0 ? 0 : a * std::log2(a / b); };
  return term(p, fpr) + term(1 - p, 1 - fpr);
}

double floor_fnr(double bits_a_key, double fpr) {
  double low = 0, high = 1 - fpr;  // the floor falls from log2(1/FPR) to 0
  if (floor_bits(low, fpr) <= bits_a_key) return 0;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (floor_bits(middle, fpr) > bits_a_key ? low : high) = middle;
  }
  return high;
}

}  // namespace weir::lab
