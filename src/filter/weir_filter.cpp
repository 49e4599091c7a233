#include "filter/weir_filter.hpp"

#include <cstdio>

#include "core/catalog.hpp"
#include "core/kernel.hpp"
#include "plan/weir_model.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"lines", "64-byte lines", "from the memory, or from the keys"},
    {"n", "slots a line, each a fingerprint", "as many as the FPR allows"},
    {"B", "buckets a line", "the best for the FPR"},
    {"a", "bits of age a slot, 0 to 2", "1, or 2 with importance"},
    {"e", "age at which a newcomer begins, below 2^a", "0"},
    {"imax", "importance that enters at the highest age", "1: importance is ignored"},
};

constexpr unsigned line_room = weir_hand_at;

struct Slots {
  unsigned n = 0, B = 0;
  double fpr = 1;
};

double fpr_of(unsigned n, unsigned B, unsigned r) {
  return std::ldexp(1.0 * n / B, -static_cast<int>(r));
}
// 0 where the line has no room, or where a read of 64 bits behind the last remainder would leave
// it.
unsigned remainder_bits(unsigned n, unsigned B, unsigned a) {
  if (n * (2 + a) + B > line_room) return 0;
  const unsigned room = line_room - B - n * (1 + a);
  if (std::min(room, n * weir_max_length) / 8 > 56) return 0;
  return std::min(room / n, weir_max_length);
}

// The most slots at an FPR of at most `fpr`; of equally many, the lowest FPR. n and B stay as they
// are where they are not 0.
Slots best_slots(double fpr, unsigned n, unsigned B, unsigned a) {
  Slots best;
  for (unsigned slots = n != 0 ? n : weir_max_slots; slots >= (n != 0 ? n : 1) && best.n == 0;
       --slots)
    for (unsigned buckets = B != 0 ? B : 1; buckets <= (B != 0 ? B : line_room); ++buckets) {
      const unsigned r = remainder_bits(slots, buckets, a);
      if (r == 0) continue;
      const double here = fpr_of(slots, buckets, r);
      if (here <= fpr && here < best.fpr) best = {slots, buckets, here};
    }
  return best;
}

}  // namespace

constinit const StructureEntry structure_weir = entry<WeirFilter, FilterHandle>({
    .name = "weir",
    .kind = Kind::Filter,
    .purpose = "seen before? on an endless stream, with the fewest misses",
    .guarantee = "FPR at most as asked for ever; no false negative before it is full",
    .paper = "Weir 2026 (docs/weir-filter.md)",
    .parameters = parameters,
    .forgets = true,
    .weighted = true,
    .fine = "B",
});
const StructureInfo& WeirFilter::info() noexcept { return structure_weir; }

WeirLayout::WeirLayout(unsigned n, unsigned B, unsigned a) noexcept
    : slots(n),
      buckets(B),
      planes(a),
      occupied_at(weir_hand_at - B),
      first_word(std::min(6u, occupied_at / 64)),
      first_mask(occupied_at / 64 == 7 ? 0 : ~std::uint64_t{0} << occupied_at % 64),
      last_mask(occupied_at / 64 == 7 ? ~std::uint64_t{0} << occupied_at % 64 : ~std::uint64_t{0}),
      all_slots(n < 64 ? (std::uint64_t{1} << n) - 1 : ~std::uint64_t{0}) {
  const auto field = [&](unsigned at) {
    const unsigned byte = std::min(at / 8, is_usual() ? 56u : 48u);
    return Field{byte, at - byte * 8};
  };
  ends = field(occupied_at - n);
  ages[0] = field(occupied_at - 2 * n);
  ages[1] = field(a < 2 ? 0 : occupied_at - 3 * n);
  const unsigned room = occupied_at - n - a * n;
  for (unsigned u = 0; u <= weir_max_slots + 1; ++u)
    length[u] = static_cast<std::uint8_t>(std::min(room / std::clamp(u, 1u, n), weir_max_length));
}

unsigned WeirFilter::Shape::r() const noexcept { return remainder_bits(n, B, a); }
double WeirFilter::Shape::fpr() const noexcept { return fpr_of(n, B, r()); }

void WeirFilter::Shape::check() const {
  if (e >= 1u << a)
    throw Error(ErrorCode::Config, "weir cannot begin at age e=" + std::to_string(e) +
                                       " with a=" + std::to_string(a) + " bits of age");
  if (r() == 0)
    throw Error(ErrorCode::Config, "weir cannot hold n=" + std::to_string(n) +
                                       " slots and B=" + std::to_string(B) +
                                       " buckets in a line: n (2 + a) + B must be at most " +
                                       std::to_string(line_room) +
                                       ", and n (1 + a) + B at least 42 with more than 14 slots");
}

void WeirFilter::complete(Params& params, const Request& request, std::uint64_t bytes) {
  params.fill("imax", std::uint64_t{1});
  params.fill("e", std::uint64_t{0});
  params.fill(
      "a", std::uint64_t{
               params.whole("imax", 1, 0xffffffff) > 1 || params.whole("e", 0, 3) > 1 ? 2u : 1u});
  const auto a = static_cast<unsigned>(params.whole("a", 0, 2));
  const auto given = [&](const char* name, unsigned most) {
    return params.has(name) ? static_cast<unsigned>(params.whole(name, 1, most)) : 0u;
  };
  const unsigned n = given("n", weir_max_slots), B = given("B", weir_line_bits);
  const Slots best = best_slots(n != 0 && B != 0 ? 1.0 : request.fpr, n, B, a);
  if (n == 0 || B == 0) {
    if (best.n == 0) {
      const auto text = [](double rate) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.2g", rate);
        return std::string(digits);
      };
      const Slots lowest = best_slots(2 * fpr_of(1, line_room - 2 - a, weir_max_length), n, B, a);
      throw Error(ErrorCode::Config, "weir cannot hold an FPR of " + text(request.fpr) +
                                         " in a line; the lowest is " +
                                         text(lowest.n == 0 ? 1.0 : lowest.fpr));
    }
    params.fill("n", std::uint64_t{best.n});
    params.fill("B", std::uint64_t{best.B});
  }
  if (!params.has("lines")) {
    if (bytes == 0 && request.keys == 0)
      throw Error(ErrorCode::Config,
                  "weir needs a size: give the memory, or the expected keys, or lines");
    const auto slots = static_cast<double>(params.whole("n", 1, weir_max_slots));
    params.fill("lines",
                bytes != 0
                    ? bytes / line_bytes
                    : weir_lines_for(static_cast<double>(request.keys) / request.shards, slots));
  }
}

WeirFilter::WeirFilter(const Shape& shape, std::byte* memory, RecordRandom) noexcept
    : shape_(shape),
      layout_(shape.layout()),
      kernel_(weir_kernel(layout_, Kernel::Scalar)),
      words_(reinterpret_cast<std::uint64_t*>(memory)) {}

void WeirFilter::use(Kernel kernel) {
  if (!cpu_has(kernel))
    throw Error(ErrorCode::Config, "this CPU does not have the instructions of the chosen kernel");
  kernel_ = weir_kernel(layout_, kernel == Kernel::Auto ? best_kernel() : kernel);
}

Prediction WeirFilter::predict(const Shape& shape, const StreamModel& stream) {
  std::vector<double> entering(std::size_t{1} << shape.a, 0.0);
  for (std::size_t i = 0; i < stream.importance.size(); ++i)
    entering[shape.enters(static_cast<std::uint32_t>(i + 1))] += stream.importance[i];
  if (stream.importance.empty()) entering[shape.enters(1)] = 1;
  return predict_weir({static_cast<double>(shape.lines), shape.layout(), entering}, stream);
}

void WeirFilter::verify() const {
  for (std::uint64_t line = 0; line < shape_.lines; ++line)
    if (!kernel_.is_sound(layout_, words_ + line * 8))
      throw Error(ErrorCode::BadState, "line " + std::to_string(line) + " is not a valid line");
  if (seen_ > records_) throw Error(ErrorCode::BadState, "more records seen than observed");
}

// A stranger meets one of the distinct fingerprints of its line with probability 1 / (B 2^r(u))
// each. Up to 2^15 lines, evenly spread, stand for all.
void WeirFilter::health(Health& health) const noexcept {
  const std::uint64_t step = shape_.lines / (1 << 15) + 1;
  double used = 0, fpr = 0, looked = 0;
  for (std::uint64_t line = 0; line < shape_.lines; line += step, ++looked) {
    const WeirLineView view = kernel_.look(layout_, words_ + line * 8);
    used += 1.0 * view.used / shape_.n;
    fpr += fpr_of(view.distinct, shape_.B, layout_.length[view.used]);
  }
  health.fill = used / looked;
  health.fpr = fpr / looked;
  health.records = records_;
  health.seen = seen_;
}

}  // namespace weir
