#include "oracle.hpp"

#include <vector>

namespace weir::lab {
namespace {

class Numbered final : public Oracle {
 public:
  explicit Numbered(std::uint64_t universe) : met_((universe + 63) / 64) {}
  void observe(std::span<const std::uint64_t> keys, std::span<std::uint8_t> first) override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      std::uint64_t& word = met_[keys[i] / 64];
      const std::uint64_t bit = std::uint64_t{1} << keys[i] % 64;
      first[i] = (word & bit) == 0 ? 1 : 0;
      word |= bit;
    }
  }

 private:
  std::vector<std::uint64_t> met_;
};

}  // namespace

std::unique_ptr<Oracle> numbered_oracle(std::uint64_t universe) {
  return std::make_unique<Numbered>(universe);
}

}  // namespace weir::lab
