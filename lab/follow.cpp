#include "follow.hpp"

#include <algorithm>
#include <vector>

#include "core/bits.hpp"

namespace weir::lab {

std::uint64_t follow(Filter& filter, Stream& stream, Oracle& oracle, std::uint64_t records,
                     std::uint64_t seed, const std::function<void(const Batch&)>& see) {
  std::vector<std::uint64_t> keys(follow_batch);
  std::vector<std::uint32_t> weights(follow_batch);
  std::vector<std::uint8_t> first(follow_batch);
  std::vector<Digest> digests(follow_batch);
  std::vector<Verdict> verdicts(follow_batch);
  const std::uint64_t secret = mix(seed, 5);
  std::uint64_t done = 0;
  while (done < records) {
    const auto wanted = static_cast<std::size_t>(std::min(follow_batch, records - done));
    const std::size_t n =
        stream.fill(std::span(keys).first(wanted), std::span(weights).first(wanted));
    if (n == 0) break;
    for (std::size_t i = 0; i < n; ++i) digests[i] = mix(keys[i], secret);
    oracle.observe(std::span(keys).first(n), std::span(first).first(n));
    filter.observe(std::span(digests).first(n), std::span(weights).first(n),
                   std::span(verdicts).first(n));
    see({done, std::span(keys).first(n), std::span(weights).first(n), std::span(first).first(n),
         std::span(verdicts).first(n)});
    done += n;
  }
  return done;
}

}  // namespace weir::lab
