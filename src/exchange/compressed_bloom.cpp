// What is sent:
//
//   offset  bytes  what
//   0       8      number of set bits
//   8       4      Golomb's parameter M
//   12      4      zero
//   16      ...    for each set bit the zeros in front of it, g = q M + r: q ones and a zero, then
//                  r in ceil(log2 M) bits, or one bit less where r < 2^ceil(log2 M) - M;
//                  bits are put into bytes from the lowest on, the last byte is filled with zeros
#include "weir/compressed_bloom.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "checkpoint/snapshot_access.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::size_t buffer_bytes = 64 << 10;
constexpr std::uint32_t most_probes = 32;
constexpr double head_bytes = 16;
constexpr std::uint64_t least_bits = 64;
constexpr std::uint64_t largest_parameter = std::uint64_t{1} << 30;

// The best M for gaps with P(g) = p (1 - p)^g (Gallager and van Voorhis, 1975): the least with
// (1 - p)^M + (1 - p)^(M + 1) <= 1.
std::uint64_t golomb_parameter(double p) {
  if (p >= 1) return 1;
  const double q = 1 - p;
  const double m = std::ceil(-std::log1p(q) / std::log1p(-p));
  return static_cast<std::uint64_t>(std::clamp(m, 1.0, static_cast<double>(largest_parameter)));
}

unsigned remainder_bits(std::uint64_t parameter) {
  return static_cast<unsigned>(std::bit_width(parameter - 1));
}

// Expected bits of a gap.
double golomb_bits(double p) {
  const auto parameter = golomb_parameter(p);
  const double m = static_cast<double>(parameter), log_q = std::log1p(-std::min(p, 1 - 1e-15));
  const unsigned bits = remainder_bits(parameter);
  const double short_ones = std::exp2(bits) - m;
  const double of_m = -std::expm1(m * log_q);  // 1 - q^M
  return 1 / of_m + bits - -std::expm1(short_ones * log_q) / of_m;
}

class BitWriter {
 public:
  explicit BitWriter(ByteSink& to) : to_(to) { bytes_.reserve(buffer_bytes); }
  // At most 32 bits.
  void put(std::uint64_t value, unsigned bits) {
    held_ |= value << count_;
    count_ += bits;
    while (count_ >= 8) {
      bytes_.push_back(static_cast<std::byte>(held_));
      held_ >>= 8, count_ -= 8;
    }
    if (bytes_.size() >= buffer_bytes - 8) hand_on();
  }
  void ones_and_zero(std::uint64_t ones) {
    for (; ones >= 32; ones -= 32) put(0xffffffff, 32);
    put((std::uint64_t{1} << ones) - 1, static_cast<unsigned>(ones) + 1);
  }
  void end() {
    if (count_ > 0) bytes_.push_back(static_cast<std::byte>(held_));
    hand_on();
  }

 private:
  void hand_on() {
    to_.write(bytes_);
    bytes_.clear();
  }
  ByteSink& to_;
  std::vector<std::byte> bytes_;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

class BitReader {
 public:
  BitReader(ByteSource& from, std::uint64_t left) : from_(from), left_(left) {}
  std::uint64_t get(unsigned bits) {
    need(bits);
    const std::uint64_t value = held_ & ((std::uint64_t{1} << bits) - 1);
    held_ >>= bits, count_ -= bits;
    return value;
  }
  // Ones up to the next zero, at most `most`.
  std::uint64_t ones(std::uint64_t most) {
    for (std::uint64_t ones = 0;;) {
      need(1);
      const auto run = std::min<unsigned>(static_cast<unsigned>(std::countr_one(held_)), count_);
      held_ >>= run, count_ -= run;
      ones += run;
      if (ones > most) refuse();
      if (count_ > 0) {
        held_ >>= 1, --count_;
        return ones;
      }
    }
  }
  // Only zeros that fill the last byte may be left.
  void end() {
    if (left_ > 0 || at_ != bytes_.size() || count_ >= 8 || held_ != 0) refuse();
  }
  [[noreturn]] static void refuse() {
    throw Error(ErrorCode::BadState, "the coded Bloom filter is damaged");
  }

 private:
  void need(unsigned bits) {
    while (count_ < bits) {
      if (at_ == bytes_.size()) fetch();
      held_ |= std::to_integer<std::uint64_t>(bytes_[at_++]) << count_;
      count_ += 8;
    }
  }
  void fetch() {
    if (left_ == 0) refuse();
    bytes_.resize(std::min<std::uint64_t>(left_, buffer_bytes));
    from_.read(bytes_);
    left_ -= bytes_.size();
    at_ = 0;
  }
  ByteSource& from_;
  std::uint64_t left_;  // bytes that were not read yet
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

// The bits of a Bloom filter as words.
struct Array {
  std::uint64_t m = 0;
  std::span<std::uint64_t> words;
};
Array array_of(const Filter& bloom) {
  const std::string_view name = bloom.info().name;
  if (name != "bloom" || bloom.shards() != 1)
    throw Error(ErrorCode::Config, "only a filter bloom with one shard is coded for the wire");
  const std::string parameters = bloom.parameters();
  const std::size_t at = ("," + parameters).find(",m=");
  // The writer only looks; a reader owns the filter.
  const auto payload = SnapshotAccess::payload(const_cast<Filter&>(bloom));
  return {std::stoull(parameters.substr(at + 2)),
          {reinterpret_cast<std::uint64_t*>(payload.data()), payload.size() / 8}};
}

}  // namespace

CompressedBloom compressed_bloom(double keys, std::uint64_t m, std::uint32_t k) {
  const double bits = static_cast<double>(m);
  const double p = -std::expm1(-keys * k / bits);
  const double ones = bits * p;
  return {m, k, std::pow(p, k), head_bytes + ones * golomb_bits(p) / 8};
}

CompressedBloom best_compressed_bloom(double keys, double wire_bytes, std::uint64_t memory) {
  CompressedBloom best;
  for (std::uint32_t k = 1; k <= most_probes; ++k) {
    // The more bits, the lower the FPR and the more to send: the largest that can be paid for.
    const auto affordable = [&](std::uint64_t m) {
      return compressed_bloom(keys, m, k).wire_bytes <= wire_bytes;
    };
    std::uint64_t fits = least_bits, above = memory * 8 + 1;
    if (fits >= above || !affordable(fits)) continue;
    while (fits + 1 < above) {
      const std::uint64_t middle = fits + (above - fits) / 2;
      (affordable(middle) ? fits : above) = middle;
    }
    const CompressedBloom shape = compressed_bloom(keys, fits, k);
    if (shape.fpr < best.fpr) best = shape;
  }
  if (best.m == 0)
    throw Error(ErrorCode::Config,
                "nothing of use can be sent in " +
                    std::to_string(static_cast<std::uint64_t>(std::max(wire_bytes, 0.0))) +
                    " bytes for so many keys");
  return best;
}

FilterPtr make_bloom(const CompressedBloom& shape) {
  return make_filter("bloom:m=" + std::to_string(shape.m) + ",k=" + std::to_string(shape.k),
                     {.seed = 0});
}

void encode_bloom(const Filter& bloom, ByteSink& to) {
  const Array array = array_of(bloom);
  std::uint64_t ones = 0;
  for (const std::uint64_t word : array.words) ones += static_cast<unsigned>(std::popcount(word));
  const std::uint64_t parameter =
      ones == 0 ? 1 : golomb_parameter(static_cast<double>(ones) / static_cast<double>(array.m));
  std::byte head[16] = {};
  std::memcpy(head, &ones, 8);
  std::memcpy(head + 8, &parameter, 4);
  to.write(head);
  const unsigned bits = remainder_bits(parameter);
  const std::uint64_t short_ones = (std::uint64_t{1} << bits) - parameter;
  BitWriter writer(to);
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < array.words.size(); ++i)
    for (std::uint64_t word = array.words[i]; word != 0; word &= word - 1) {
      const std::uint64_t at = i * 64 + static_cast<unsigned>(std::countr_zero(word));
      const std::uint64_t gap = at - next, rest = gap % parameter;
      next = at + 1;
      writer.ones_and_zero(gap / parameter);
      // The short ones are the low values, the others stand behind twice as many; the high bits
      // come first, so that the reader knows from them whether one more follows.
      if (bits == 0) continue;
      if (rest < short_ones) {
        writer.put(rest, bits - 1);
      } else {
        const std::uint64_t code = rest + short_ones;
        writer.put(code >> 1, bits - 1), writer.put(code & 1, 1);
      }
    }
  writer.end();
}

void decode_bloom(Filter& bloom, ByteSource& from) {
  const Array array = array_of(bloom);
  if (from.size() < 16) BitReader::refuse();
  std::byte head[16];
  from.read(head);
  std::uint64_t ones = 0, parameter = 0;
  std::memcpy(&ones, head, 8);
  std::memcpy(&parameter, head + 8, 8);
  if (ones > array.m || parameter == 0 || parameter > largest_parameter) BitReader::refuse();
  const unsigned bits = remainder_bits(parameter);
  const std::uint64_t short_ones = (std::uint64_t{1} << bits) - parameter;
  BitReader reader(from, from.size() - 16);
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < ones; ++i) {
    const std::uint64_t left = array.m - next;
    if (next >= array.m) BitReader::refuse();
    std::uint64_t gap = reader.ones(left / parameter) * parameter;
    if (bits > 0) {
      std::uint64_t rest = reader.get(bits - 1);
      if (rest >= short_ones) rest = (rest << 1 | reader.get(1)) - short_ones;
      gap += rest;
    }
    if (gap >= left) BitReader::refuse();
    next += gap;
    array.words[next >> 6] |= std::uint64_t{1} << (next & 63);
    ++next;
  }
  reader.end();
  std::vector<std::uint64_t> registers(SnapshotAccess::registers_a_shard(bloom));
  SnapshotAccess::read_registers(bloom, 0, registers);
  registers[0] = ones;  // what Bloom keeps beside its bits
  SnapshotAccess::write_registers(bloom, 0, registers);
  SnapshotAccess::verify(bloom);
}

}  // namespace weir
