// The saved sample, version 1. Little-endian.
//
//   offset  bytes  what
//   0       8      magic "WEIRSAMP"
//   8       4      format version
//   12      1      way: 0 uniform, 1 recent, 2 weighted, 3 distinct
//   13      1      hash: 1 XXH3-64, 2 SipHash-2-4
//   14      2      zero
//   16      8      n
//   24      8      half-life, as a double
//   32      8      seed
//   40      8      records met
//   48      8      H, records held
//   56      56     the slots' state: capacity, met, held, next, key, draws, weight; or zeros
//   112     192    the hash's secret
//   304     ...    H times: ordinal, rank, bytes of the record (8 bytes each), the record
//   then    8      XXH3-64 of the bytes before
#include "sample/record_sampler.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "checkpoint/replace_file.hpp"
#include "core/bits.hpp"

namespace weir {
namespace {

constexpr char magic[8] = {'W', 'E', 'I', 'R', 'S', 'A', 'M', 'P'};
constexpr std::uint32_t newest_version = 1;

struct Fixed {
  char magic[8];
  std::uint32_t version;
  std::uint8_t way, hash, zero[2];
  std::uint64_t n;
  double half_life;
  std::uint64_t seed, met, held;
  std::uint64_t capacity, slots_met, slots_held, next, key, draws;
  double weight;
  Digester::Secret secret;
};
static_assert(sizeof(Fixed) == 304);

struct Head {
  std::uint64_t ordinal, rank, bytes;
};

[[noreturn]] void refuse(const char* why) { throw Error(ErrorCode::BadState, why); }

bool by_rank(const RecordSampler::Held& a, const RecordSampler::Held& b) { return a.rank < b.rank; }

}  // namespace

RecordSampler::RecordSampler(Way way, std::uint64_t n, double half_life, std::uint64_t seed,
                             const Digester& digester)
    : way_(way), n_(n), seed_(seed), half_life_(half_life), digester_(digester) {
  if (n == 0) throw Error(ErrorCode::Config, "a sample needs room for 1 record at least");
  if (way == Way::Uniform) slots_.emplace<ReservoirSlots>(n, seed);
  if (way != Way::Recent) return;
  if (!(half_life > 0 && std::isfinite(half_life)))
    throw Error(ErrorCode::Config, "the half-life must be above 0");
  share_ = -static_cast<double>(n) * std::expm1(-std::log(2) / half_life);
  if (share_ > 1) {
    const auto most = static_cast<std::uint64_t>(-1 / std::expm1(-std::log(2) / half_life));
    throw Error(ErrorCode::Config,
                "a sample with this half-life has " +
                    std::to_string(std::max<std::uint64_t>(most, 1)) +
                    " records at most; ask for fewer, or for a longer half-life");
  }
  slots_.emplace<BiasedSlots>(n, seed);
}

std::uint64_t RecordSampler::certain_misses() const noexcept {
  const auto* const uniform = std::get_if<ReservoirSlots>(&slots_);
  return uniform == nullptr ? 0 : uniform->certain_misses();
}

void RecordSampler::skip(std::uint64_t records) noexcept {
  if (auto* const uniform = std::get_if<ReservoirSlots>(&slots_)) uniform->skip(records);
  met_ += records;
}

void RecordSampler::put(std::uint64_t slot, std::string_view record) {
  if (slot == held_.size()) held_.emplace_back();
  held_[slot].ordinal = met_;
  held_[slot].record = record;
}

void RecordSampler::offer_rank(std::uint64_t rank, std::string_view record) {
  const bool full = held_.size() == n_;
  if (full && rank >= held_.front().rank) return;
  if (way_ == Way::Distinct && !distinct_.insert(rank).second) return;
  if (full) {  // (5)
    std::ranges::pop_heap(held_, by_rank);
    distinct_.erase(held_.back().rank);
    held_.pop_back();
  }
  held_.push_back({met_, rank, std::string(record)});
  std::ranges::push_heap(held_, by_rank);
}

void RecordSampler::offer(std::string_view record, std::uint32_t weight, Digest digest) {
  // In (0, 1): its logarithm is finite and not zero.
  const auto unit = [this] {
    const std::uint64_t bits = RecordRandom(mix(seed_, 0x5a3b1e)).at(met_).next() >> 12;
    return (static_cast<double>(bits) + 0.5) * 0x1.0p-52;
  };
  switch (way_) {
    case Way::Uniform:
      if (const auto slot = std::get<ReservoirSlots>(slots_).offer()) put(*slot, record);
      break;
    case Way::Recent:
      if (unit() < share_) put(*std::get<BiasedSlots>(slots_).offer(), record);  // (1), (2)
      break;
    case Way::Weighted:  // bits of positive numbers are ordered as the numbers are
      offer_rank(std::bit_cast<std::uint64_t>(-std::log(unit()) / weight), record);  // (3)
      break;
    case Way::Distinct:
      offer_rank(digest, record);  // (4)
      break;
  }
  ++met_;
}

const SamplerState& RecordSampler::slots_state() const {
  static constexpr SamplerState none;
  if (const auto* const uniform = std::get_if<ReservoirSlots>(&slots_)) return uniform->state();
  if (const auto* const recent = std::get_if<BiasedSlots>(&slots_)) return recent->state();
  return none;
}

void RecordSampler::save(const std::filesystem::path& path) const {
  Fixed f{};
  std::memcpy(f.magic, magic, sizeof magic);
  f.version = newest_version;
  f.way = static_cast<std::uint8_t>(way_);
  f.hash = static_cast<std::uint8_t>(digester_.kind());
  f.n = n_, f.half_life = half_life_, f.seed = seed_, f.met = met_, f.held = held_.size();
  const SamplerState& s = slots_state();
  f.capacity = s.capacity, f.slots_met = s.met, f.slots_held = s.held, f.next = s.next;
  f.key = s.key, f.draws = s.draws, f.weight = s.weight;
  f.secret = digester_.secret();
  replace_file(path, [&](ByteSink& sink) {
    XXH3_state_t sum;
    XXH3_64bits_reset(&sum);
    const auto write = [&](const void* data, std::size_t bytes) {
      XXH3_64bits_update(&sum, data, bytes);
      sink.write({static_cast<const std::byte*>(data), bytes});
    };
    write(&f, sizeof f);
    for (const Held& held : held_) {
      const Head head{held.ordinal, held.rank, held.record.size()};
      write(&head, sizeof head);
      write(held.record.data(), held.record.size());
    }
    const std::uint64_t value = XXH3_64bits_digest(&sum);
    sink.write(std::as_bytes(std::span(&value, 1)));
  });
}

RecordSampler RecordSampler::load(const std::filesystem::path& path) {
  std::optional<RecordSampler> loaded;
  read_file(path, [&](ByteSource& source) {
    XXH3_state_t sum;
    XXH3_64bits_reset(&sum);
    std::uint64_t left = source.size();
    const auto read = [&](void* data, std::uint64_t bytes) {
      if (bytes + 8 > left || bytes > left) refuse("the sample is damaged: it ends early");
      left -= bytes;
      source.read({static_cast<std::byte*>(data), bytes});
      XXH3_64bits_update(&sum, data, bytes);
    };
    Fixed f{};
    if (left < sizeof f + 8) refuse("this is not a saved sample");
    read(&f, sizeof f);
    if (std::memcmp(f.magic, magic, sizeof magic) != 0) refuse("this is not a saved sample");
    if (f.version == 0 || f.version > newest_version)
      refuse("this sample has a format version that this weir does not read");
    if (f.way > 3 || (f.hash != 1 && f.hash != 2) || f.zero[0] != 0 || f.zero[1] != 0 ||
        f.held > f.n || f.held > f.met || f.held > left / sizeof(Head) || f.met >> 63 != 0)
      refuse("the sample is damaged: its header contradicts itself");
    try {
      loaded.emplace(static_cast<Way>(f.way), f.n, f.half_life, f.seed,
                     Digester::from_secret(static_cast<HashKind>(f.hash), f.secret));
    } catch (const Error&) {
      refuse("the sample is damaged: its header contradicts itself");
    }
    loaded->met_ = f.met;
    const SamplerState state{f.capacity, f.slots_met, f.slots_held, f.next,
                             f.key,      f.draws,     f.weight};
    const bool slotted = f.way < 2;
    if (slotted && (f.capacity != f.n || f.slots_held != f.held))
      refuse("the sample is damaged: its header contradicts itself");
    if (f.way == 0) loaded->slots_.emplace<ReservoirSlots>(state);
    if (f.way == 1) loaded->slots_.emplace<BiasedSlots>(state);
    for (std::uint64_t i = 0; i < f.held; ++i) {
      Head head;
      read(&head, sizeof head);
      if (head.bytes > left || head.ordinal >= f.met)
        refuse("the sample is damaged: a record contradicts its header");
      Held held{head.ordinal, head.rank, std::string(head.bytes, '\0')};
      read(held.record.data(), head.bytes);
      if (loaded->way_ == Way::Distinct && !loaded->distinct_.insert(held.rank).second)
        refuse("the sample is damaged: a key is in it twice");
      loaded->held_.push_back(std::move(held));
    }
    const std::uint64_t wanted = XXH3_64bits_digest(&sum);
    std::uint64_t stored = 0;
    if (left != sizeof stored) refuse("the sample is damaged: it is longer than it says");
    source.read(std::as_writable_bytes(std::span(&stored, 1)));
    if (stored != wanted) refuse("the sample is damaged: it does not match its checksum");
    if (!slotted && !std::ranges::is_heap(loaded->held_, by_rank))
      refuse("the sample is damaged: its order is not that of a sample");
  });
  return std::move(*loaded);
}

}  // namespace weir
