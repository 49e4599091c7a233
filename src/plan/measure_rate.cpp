// How fast a planned filter is here.
#include <algorithm>
#include <chrono>

#include "core/bits.hpp"
#include "plan/planner.hpp"

namespace weir {

Rate measure_rate(const Candidate& candidate) {
  constexpr std::uint64_t most_measured = 16 << 20;
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  const double s = std::max(
      1.0, static_cast<double>(candidate.request.memory) / static_cast<double>(most_measured));
  Request request = candidate.request;
  request.memory = std::min(request.memory, most_measured);
  request.keys = static_cast<std::uint64_t>(static_cast<double>(request.keys) / s);
  const std::string name = candidate.spec.substr(0, candidate.spec.find(':'));
  const FilterPtr filter = make_filter(name, request);
  constexpr std::size_t batch = 4096;
  std::vector<Digest> digests(batch);
  std::vector<Verdict> verdicts(batch);
  // Two of three records are new. The first moments, in which memory comes in, do not count; a
  // filter of this size is still filling then.
  Draws draws(filter->seed());
  std::vector<Digest> recent(batch);
  double measured = 0, records = 0;
  const auto start = Clock::now();
  while (records == 0 || (seconds(start) < 0.4 && measured < 0.15)) {
    for (std::size_t i = 0; i < batch; ++i) {
      digests[i] = i % 3 == 0 ? recent[i] : draws.next();
      recent[i] = digests[i];
    }
    const auto before = Clock::now();
    filter->observe(digests, verdicts);
    if (seconds(start) > 0.15) measured += seconds(before), records += batch;
  }
  return {records / measured, filter->memory()};
}

}  // namespace weir
