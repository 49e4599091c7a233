#include "stream.hpp"

#include <algorithm>

#include "core/bits.hpp"

namespace weir::lab {

static constexpr std::uint64_t repeated = std::uint64_t{1} << 63;

DistanceStream::DistanceStream(Distances what, std::uint64_t seed)
    : what_(std::move(what)), state_(mix(seed, 8)) {
  ring_.assign(*std::max_element(what_.distances.begin(), what_.distances.end()), repeated);
}

std::size_t DistanceStream::fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) {
  std::vector<std::uint32_t> which(keys.size());
  std::fill(weights.begin(), weights.end(), 1);
  return fill_with_distances(keys, which);
}

std::size_t DistanceStream::fill_with_distances(std::span<std::uint64_t> keys,
                                                std::span<std::uint32_t> which) {
  for (std::size_t i = 0; i < keys.size(); ++i, ++records_) {
    Draws draws(mix(state_, records_));
    std::uint64_t key = repeated;
    if (draws.unit() < what_.share) {
      const auto d = static_cast<std::uint32_t>(draws.below(what_.distances.size()));
      const std::uint64_t distance = what_.distances[d];
      if (distance <= records_) {
        std::uint64_t& past = ring_[(records_ - distance) % ring_.size()];
        if ((past & repeated) == 0) {
          key = past, which[i] = d;
          past |= repeated;
        }
      }
    }
    if (key == repeated) {
      key = next_key_++, which[i] = fresh;
      ring_[records_ % ring_.size()] = key;
    } else {
      ring_[records_ % ring_.size()] = key | repeated;
    }
    keys[i] = key;
  }
  return keys.size();
}

}  // namespace weir::lab
