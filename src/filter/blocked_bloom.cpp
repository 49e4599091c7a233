#include "filter/blocked_bloom.hpp"

#include <bit>
#include <map>

#include "core/catalog.hpp"
#include "core/kernel.hpp"
#include "filter/blocked_bloom_kernels.hpp"
#include "plan/uniform.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"lines", "64-byte lines", "from the memory, or from the keys and the FPR"},
    {"k", "probes a key, all in one line", "the best for the keys, or log2(1/FPR)"},
};

// FPR and fill as functions of the load, lambda = keys / lines.
//
// A line holds j ~ Poisson(lambda) keys. For a set T of the query's k bits, a random key
// leaves all of T unset with probability g(T) = mean over its eight starts of the product over
// lanes of (1 - t/64)^c, with t bits of T in the lane and c probes of the key there. Inclusion
// and exclusion over T and the Poisson mean of g^j give
//   FPR(lambda) = sum over T of (-1)^|T| exp(lambda (g(T) - 1)).
// Only few different values of g occur; they are collected with their signs once.
class LineModel {
 public:
  explicit LineModel(unsigned k) : k_(k) {
    for (unsigned set = 0; set < 1u << k; ++set) {
      int in_lane[8] = {};
      for (unsigned i = 0; i < k; ++i) in_lane[i & 7] += (set >> i & 1) != 0 ? 1 : 0;
      add(in_lane, std::popcount(set) % 2 == 0 ? 1.0 : -1.0, 0);
    }
  }
  [[nodiscard]] double fpr(double lambda) const {
    double sum = 0;
    for (const auto& [g, weight] : terms_) sum += weight * std::exp(lambda * (g - 1));
    return std::clamp(sum, 0.0, 1.0);
  }
  [[nodiscard]] double fill(double lambda) const {
    const int one_bit[8] = {1};
    return -std::expm1(lambda * (missed(one_bit) - 1));
  }

 private:
  // Two bits of T in one lane are the same bit once in 64 times.
  void add(int (&in_lane)[8], double weight, int lane) {
    while (lane < 8 && in_lane[lane] < 2) ++lane;
    if (lane == 8) {
      terms_[missed(in_lane)] += weight;
      return;
    }
    add(in_lane, weight * 63 / 64, lane + 1);
    in_lane[lane] = 1;
    add(in_lane, weight / 64, lane + 1);
    in_lane[lane] = 2;
  }
  [[nodiscard]] double missed(const int (&in_lane)[8]) const {
    double sum = 0;
    for (unsigned start = 0; start < 8; ++start) {
      double product = 1;
      for (unsigned i = 0; i < k_; ++i) product *= 1 - in_lane[(start + i) & 7] / 64.0;
      sum += product;
    }
    return std::round(sum / 8 * 1e15) / 1e15;  // sums of equal terms in another order are equal
  }

  unsigned k_;
  std::map<double, double> terms_;
};

unsigned best_k(double lambda) {
  unsigned best = 1;
  double lowest = 1;
  for (unsigned k = 1; k <= 12; ++k) {
    const double fpr = LineModel(k).fpr(lambda);
    if (fpr < lowest) lowest = fpr, best = k;
  }
  return best;
}

// The largest load at which some k keeps the FPR, by halving the interval.
double load_for(double fpr) {
  double low = 0.01, high = 512;
  for (int i = 0; i < 24; ++i) {
    const double middle = std::sqrt(low * high);
    (LineModel(best_k(middle)).fpr(middle) <= fpr ? low : high) = middle;
  }
  return low;
}

}  // namespace

constinit const StructureEntry structure_blocked_bloom = entry<BlockedBloom, FilterHandle>({
    .name = "blocked-bloom",
    .kind = Kind::Filter,
    .purpose = "seen before? for a known number of keys, at one cache line a key",
    .guarantee = "no false negatives; FPR grows with the keys, a little above bloom's",
    .paper = "Putze, Sanders, Singler 2007",
    .parameters = parameters,
});
const StructureInfo& BlockedBloom::info() noexcept { return structure_blocked_bloom; }

void BlockedBloom::complete(Params& params, const Request& request, std::uint64_t bytes) {
  const double keys = static_cast<double>(request.keys) / request.shards;
  if (!params.has("lines")) {
    if (bytes == 0 && request.keys == 0)
      throw Error(ErrorCode::Config,
                  "blocked-bloom needs a size: give the memory, or the expected keys and the FPR, "
                  "or lines");
    params.fill("lines", bytes != 0 ? bytes / line_bytes
                                    : static_cast<std::uint64_t>(
                                          std::ceil(std::max(1.0, keys / load_for(request.fpr)))));
  }
  if (!params.has("k")) {
    const auto lines = static_cast<double>(params.whole("lines", 1, max_cells / 512));
    const double k = request.keys != 0 ? best_k(keys / lines)
                                       : std::clamp(std::round(-std::log2(request.fpr)), 1.0, 12.0);
    params.fill("k", static_cast<std::uint64_t>(k));
  }
}

BlockedBloom::BlockedBloom(const Shape& shape, std::byte* memory, RecordRandom) noexcept
    : words_(reinterpret_cast<std::uint64_t*>(memory)),
      lines_(shape.lines),
      k_(shape.k),
      kernel_(kernels::observe_scalar) {}

void BlockedBloom::use(Kernel kernel) {
  if (!cpu_has(kernel))
    throw Error(ErrorCode::Config, "this CPU does not have the instructions of the chosen kernel");
  if (kernel == Kernel::Auto) kernel = best_kernel();
  kernel_ = kernel == Kernel::Avx512 ? kernels::observe_avx512
            : kernel == Kernel::Avx2 ? kernels::observe_avx2
                                     : kernels::observe_scalar;
}

bool BlockedBloom::contains(const Target& target) const noexcept {
  const auto start = static_cast<unsigned>(target.bits >> 61);
  std::uint64_t fields = target.bits, all = 1;
  for (unsigned i = 0; i < k_; ++i, fields >>= 6) {
    if (i == 8) fields = kernels::second_bits(target.bits);
    all &= target.line[(start + i) & 7] >> (fields & 63);
  }
  return all != 0;
}

Prediction BlockedBloom::predict(const Shape& shape, const StreamModel& stream) {
  const LineModel model(shape.k);
  const auto lines = static_cast<double>(shape.lines);
  return predict_never_forgetting(
      stream, [&](double keys) { return model.fill(keys / lines); },
      [&](double keys) { return model.fpr(keys / lines); });
}

void BlockedBloom::verify() const {
  if (seen_ > records_) throw Error(ErrorCode::BadState, "more records seen than observed");
}

// Given a line's ones in each lane, a query that starts at lane a is answered Seen with the
// product of the shares of its lanes. Up to 2^17 lines, evenly spread, stand for all.
void BlockedBloom::health(Health& health) const noexcept {
  const std::uint64_t step = lines_ / (1 << 17) + 1;
  double ones = 0, fpr = 0, looked = 0;
  for (std::uint64_t line = 0; line < lines_; line += step, ++looked) {
    double share[8];
    for (unsigned lane = 0; lane < 8; ++lane) {
      share[lane] = std::popcount(words_[line * 8 + lane]) / 64.0;
      ones += share[lane] / 8;
    }
    for (unsigned start = 0; start < 8; ++start) {
      double product = 0.125;
      for (unsigned i = 0; i < k_; ++i) product *= share[(start + i) & 7];
      fpr += product;
    }
  }
  health.fill = ones / looked;
  health.fpr = fpr / looked;
  health.records = records_;
  health.seen = seen_;
}

void BlockedBloom::merge(const BlockedBloom& other) noexcept {
  for (std::uint64_t i = 0; i < lines_ * 8; ++i) words_[i] |= other.words_[i];
  records_ += other.records_;
  seen_ += other.seen_;
}

}  // namespace weir
