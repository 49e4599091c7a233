// Streams known by how soon a key comes again: of the records a share `again` has its key come
// again, at a distance of some law; the others are the last of their key. What is no repeat is a
// key never met, numbered 0, 1, 2, ...
//
//   For every record: (1) the key that an earlier record has laid into its place, else a new one
//                     (2) with probability `again` the key is laid into a later place
//   A place that is taken passes its key on to the next free one: of distances much above
//   1/(1 - again) records nobody notices.
//
// Places are kept for an epoch of 2^16 records; what comes later waits in a list by epoch. Memory
// is 16 bytes a waiting key. A repeat more than 2^40 records away is left out: no run is as long.
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stream_laws.hpp"

namespace weir::lab {
namespace {

constexpr std::uint64_t epoch_records = 1 << 16, furthest = std::uint64_t{1} << 40;
constexpr std::uint64_t none = ~std::uint64_t{0};

template <class Distance>
class ChainLaw {
 public:
  ChainLaw(Distance distance, double again, std::uint64_t seed)
      : distance_(distance), again_(again), draws_(seed), places_(epoch_records, none) {}

  std::uint64_t next() {
    if (at_ == epoch_records) enter_next_epoch();
    std::uint64_t key = std::exchange(places_[at_], none);
    if (key == none) key = made_++;                           // (1)
    if (draws_.unit() < again_) lay(distance_(draws_), key);  // (2)
    ++at_;
    return key;
  }
  [[nodiscard]] static std::uint64_t bound(std::uint64_t records) { return records; }

 private:
  struct Waiting {
    std::uint64_t place, key;
  };

  void lay(double distance, std::uint64_t key) {
    if (distance > static_cast<double>(furthest)) return;
    const std::uint64_t place = at_ + static_cast<std::uint64_t>(distance);
    if (place < epoch_records)
      settle({place, key});
    else
      later_[epoch_ + place / epoch_records].push_back({place % epoch_records, key});
  }
  void settle(Waiting waiting) {
    while (waiting.place < epoch_records && places_[waiting.place] != none) ++waiting.place;
    if (waiting.place < epoch_records)
      places_[waiting.place] = waiting.key;
    else
      later_[epoch_ + 1].push_back({0, waiting.key});
  }
  void enter_next_epoch() {
    ++epoch_, at_ = 0;
    const auto found = later_.find(epoch_);
    if (found == later_.end()) return;
    const std::vector<Waiting> waiting = std::move(found->second);
    later_.erase(found);
    for (const Waiting& one : waiting) settle(one);
  }

  Distance distance_;
  double again_;
  Draws draws_;
  std::uint64_t made_ = 0, at_ = 0, epoch_ = 0;
  std::vector<std::uint64_t> places_;
  std::unordered_map<std::uint64_t, std::vector<Waiting>> later_;
};

// In (0, 1].
double positive_unit(Draws& draws) { return 1 - draws.unit(); }

}  // namespace

std::unique_ptr<Stream> fixed_distance(double d, double again, std::uint64_t seed) {
  return make_of(ChainLaw([d = std::floor(d)](Draws&) { return d; }, again, mix(seed, 14)));
}

std::unique_ptr<Stream> geometric_distances(double mean, double again, std::uint64_t seed) {
  const double log_goes_on = std::log1p(-1 / mean);  // -inf at a mean of 1: always the next record
  return make_of(ChainLaw(
      [log_goes_on](Draws& draws) {
        return std::max(1.0, std::ceil(std::log(positive_unit(draws)) / log_goes_on));
      },
      again, mix(seed, 15)));
}

std::unique_ptr<Stream> pareto_distances(double least, double shape, double again,
                                         std::uint64_t seed) {
  return make_of(ChainLaw(
      [least, power = -1 / shape](Draws& draws) {
        return std::ceil(least * std::pow(positive_unit(draws), power));
      },
      again, mix(seed, 16)));
}

}  // namespace weir::lab
