// Importance for the keys of any stream.
#include "stream_laws.hpp"

namespace weir::lab {
namespace {

class Important final : public Stream {
 public:
  Important(std::unique_ptr<Stream> stream, Importance importance, std::uint32_t most,
            std::uint64_t seed)
      : stream_(std::move(stream)),
        importance_(importance),
        most_(most),
        secret_(mix(seed, 17)),
        draws_(mix(seed, 18)) {}

  std::size_t fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) override {
    std::size_t taken = 0;
    while (taken < keys.size()) {
      const auto rest = keys.subspan(taken);
      const std::size_t n = stream_->fill(rest, {});
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t key = rest[i];
        const std::uint32_t weight = weight_of(key);
        if (!stays(weight)) continue;
        keys[taken] = key;
        if (!weights.empty()) weights[taken] = weight;
        ++taken;
      }
      if (n < rest.size()) break;
    }
    return taken;
  }
  [[nodiscard]] std::uint64_t universe() const override { return stream_->universe(); }
  [[nodiscard]] std::uint64_t bound(std::uint64_t records) const override {
    // The keys of a stream of which records are left out run ahead of what is taken.
    return importance_ == Importance::Uniform ? stream_->bound(records) : stream_->universe();
  }
  [[nodiscard]] bool weighted() const override { return true; }

 private:
  [[nodiscard]] std::uint32_t weight_of(std::uint64_t key) const noexcept {
    return 1 + static_cast<std::uint32_t>(reduce(mix(key, secret_), most_));
  }
  // One draw a record, so that nothing depends on how the stream is cut into batches.
  bool stays(std::uint32_t weight) noexcept {
    if (importance_ == Importance::Uniform) return true;
    const double u = draws_.unit();
    return importance_ == Importance::Proportional ? u * most_ < weight : u * weight < 1;
  }

  std::unique_ptr<Stream> stream_;
  Importance importance_;
  std::uint32_t most_;
  std::uint64_t secret_;
  Draws draws_;
};

}  // namespace

std::unique_ptr<Stream> with_importance(std::unique_ptr<Stream> stream, Importance importance,
                                        std::uint32_t most, std::uint64_t seed) {
  return std::make_unique<Important>(std::move(stream), importance, most, seed);
}

}  // namespace weir::lab
