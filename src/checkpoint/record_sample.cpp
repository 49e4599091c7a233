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
//
// Not a snapshot, whose cells have a size that follows from its parameters: records are as long as
// they are. The same rules hold: no size is believed that the bytes do not bear out, and what is
// read is a whole, valid sample or refused.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "checkpoint/replace_file.hpp"
#include "sample/record_sampler.hpp"

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

}  // namespace

void RecordSampler::write(ByteSink& sink) const {
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
  XXH3_state_t sum;
  XXH3_64bits_reset(&sum);
  const auto put = [&](const void* data, std::size_t bytes) {
    XXH3_64bits_update(&sum, data, bytes);
    sink.write({static_cast<const std::byte*>(data), bytes});
  };
  put(&f, sizeof f);
  for (const Held& held : held_) {
    const Head head{held.ordinal, held.rank, held.record.size()};
    put(&head, sizeof head);
    put(held.record.data(), held.record.size());
  }
  const std::uint64_t value = XXH3_64bits_digest(&sum);
  sink.write(std::as_bytes(std::span(&value, 1)));
}

RecordSampler RecordSampler::read(ByteSource& source) {
  std::optional<RecordSampler> loaded;
  XXH3_state_t sum;
  XXH3_64bits_reset(&sum);
  std::uint64_t left = source.size();
  const auto get = [&](void* data, std::uint64_t bytes) {
    if (bytes + 8 > left || bytes > left) refuse("the sample is damaged: it ends early");
    left -= bytes;
    source.read({static_cast<std::byte*>(data), bytes});
    XXH3_64bits_update(&sum, data, bytes);
  };
  Fixed f{};
  if (left < sizeof f + 8) refuse("this is not a saved sample");
  get(&f, sizeof f);
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
  const SamplerState state{f.capacity, f.slots_met, f.slots_held, f.next, f.key, f.draws, f.weight};
  const bool slotted = f.way < 2;
  if (slotted && (f.capacity != f.n || f.slots_held != f.held))
    refuse("the sample is damaged: its header contradicts itself");
  if (f.way == 0) loaded->slots_.emplace<ReservoirSlots>(state);
  if (f.way == 1) loaded->slots_.emplace<BiasedSlots>(state);
  for (std::uint64_t i = 0; i < f.held; ++i) {
    Head head;
    get(&head, sizeof head);
    if (head.bytes > left || head.ordinal >= f.met)
      refuse("the sample is damaged: a record contradicts its header");
    Held held{head.ordinal, head.rank, std::string(head.bytes, '\0')};
    get(held.record.data(), head.bytes);
    if (loaded->way_ == Way::Distinct && !loaded->distinct_.insert(held.rank).second)
      refuse("the sample is damaged: a key is in it twice");
    loaded->held_.push_back(std::move(held));
  }
  const std::uint64_t wanted = XXH3_64bits_digest(&sum);
  std::uint64_t stored = 0;
  if (left != sizeof stored) refuse("the sample is damaged: it is longer than it says");
  source.read(std::as_writable_bytes(std::span(&stored, 1)));
  if (stored != wanted) refuse("the sample is damaged: it does not match its checksum");
  if (!slotted && !std::ranges::is_heap(loaded->held_, {}, &Held::rank))
    refuse("the sample is damaged: its order is not that of a sample");
  return std::move(*loaded);
}

void RecordSampler::save(const std::filesystem::path& path) const {
  replace_file(path, [&](ByteSink& sink) { write(sink); });
}

RecordSampler RecordSampler::load(const std::filesystem::path& path) {
  std::optional<RecordSampler> loaded;
  read_file(path, [&](ByteSource& source) { loaded.emplace(read(source)); });
  return std::move(*loaded);
}

bool RecordSampler::is_saved_at(const std::filesystem::path& path) noexcept {
  try {
    char begin[sizeof magic] = {};
    read_file(path, [&](ByteSource& source) {
      if (source.size() >= sizeof begin) source.read(std::as_writable_bytes(std::span(begin)));
    });
    return std::memcmp(begin, magic, sizeof magic) == 0;
  } catch (...) {
    return false;
  }
}

}  // namespace weir
