#include "sketch/space_saving.hpp"

#include <cmath>
#include <numeric>

#include "core/catalog.hpp"
#include "sketch/counters.hpp"

namespace weir {
namespace {

constexpr ParameterInfo parameters[] = {
    {"m", "slots: keys that are held", "1 / epsilon, or from the memory, or the number of keys"},
    {"epsilon", "a key with more than this share of the stream is held", "follows from m"},
    {"text", "bytes that are kept of a key's text", "38"},
};

constexpr std::uint64_t longest_text = 0xfffe;

}  // namespace

constinit const StructureEntry structure_space_saving = entry<SpaceSaving, TopHandle>({
    .name = "space-saving",
    .kind = Kind::Sketch,
    .purpose = "which keys came most often? with bounds of each count, and the keys' texts",
    .guarantee = "holds every key with more than N/m of N occurrences; least <= truth <= most",
    .paper = "Metwally, Agrawal, El Abbadi 2005",
    .parameters = parameters,
    .forgets = true,
});
const StructureInfo& SpaceSaving::info() noexcept { return structure_space_saving; }

void SpaceSaving::complete(Params& params, const Request& request, std::uint64_t bytes) {
  if (params.has("m") && params.has("epsilon"))
    throw Error(ErrorCode::Config,
                "space-saving takes m or epsilon, not both: the one follows from the other");
  params.fill("text", std::uint64_t{38});
  if (params.has("m")) return;
  const std::uint64_t slot = bytes_a_slot(params.whole("text", 0, max_text));
  std::uint64_t m;
  if (params.has("epsilon"))
    m = static_cast<std::uint64_t>(std::ceil(1 / params.real("epsilon", 1e-9, 1)));
  else if (bytes != 0)
    m = bytes / slot;
  else if (request.keys != 0)
    m = (request.keys + request.shards - 1) / request.shards;
  else
    throw Error(ErrorCode::Config,
                "space-saving needs a size: give epsilon, m, the memory, or the number of keys");
  params.fill("m", std::max<std::uint64_t>(m, 2));
}

SpaceSaving::SpaceSaving(const Shape& shape, std::byte* memory, RecordRandom) noexcept
    : m_(shape.m),
      text_(shape.text),
      counts_(reinterpret_cast<std::uint64_t*>(memory)),
      slots_(reinterpret_cast<Slot*>(counts_ + m_)),
      index_(reinterpret_cast<std::uint64_t*>(slots_ + m_)),
      texts_(reinterpret_cast<std::byte*>(index_ + places())) {}

SpaceSaving::Found SpaceSaving::find(Digest digest) const noexcept {
  const std::uint64_t tag = tag_of(digest);
  for (std::uint64_t at = home(tag);; at = behind(at)) {
    const std::uint64_t entry = index_[at];
    if (entry == 0) return {at, m_};
    const std::uint64_t slot = (entry & 0xffffffff) - 1;
    if (entry >> 32 == tag && slots_[slot].digest == digest) return {at, slot};
  }
}

void SpaceSaving::put(std::uint64_t at, std::uint64_t slot) noexcept {
  index_[at] = tag_of(slots_[slot].digest) << 32 | (slot + 1);
}

// Whatever stands behind the hole and does not belong further back moves up.
void SpaceSaving::take_out(std::uint64_t slot) noexcept {
  const std::uint64_t tag = tag_of(slots_[slot].digest);
  const std::uint64_t entry = tag << 32 | (slot + 1);
  std::uint64_t hole = home(tag);
  while (index_[hole] != entry) hole = behind(hole);
  for (std::uint64_t at = behind(hole); index_[at] != 0; at = behind(at)) {
    const std::uint64_t from = home(index_[at] >> 32);
    const bool stays = hole < at ? from > hole && from <= at : from > hole || from <= at;
    if (stays) continue;
    index_[hole] = index_[at];
    hole = at;
  }
  index_[hole] = 0;
}

std::uint64_t SpaceSaving::least_slot() noexcept {
  for (;;) {
    while (hand_ < m_ && counts_[hand_] != min_) ++hand_;  // (6)
    if (hand_ < m_) {
      const std::uint64_t slot = hand_++;
      if (hand_ < m_) prefetch_line(index_ + home(tag_of(slots_[hand_].digest)));  // likely next
      return slot;
    }
    min_ = *std::min_element(counts_, counts_ + m_);  // (7)
    hand_ = 0;
  }
}

void SpaceSaving::take_slot(std::uint64_t slot, Digest digest, std::uint64_t count,
                            std::uint64_t error) noexcept {
  slots_[slot] = {digest, error};
  counts_[slot] = count;
  std::memset(text_of(slot), 0, sizeof(std::uint16_t));  // what follows means nothing now
}

std::uint64_t SpaceSaving::add(const Target& target, std::uint64_t times, bool& entered) noexcept {
  const Found found = find(target.digest);
  entered = found.slot == m_ && times > 0;
  if (times == 0) return found.slot == m_ ? min_ : counts_[found.slot];
  ++records_;
  total_ = saturating_sum(total_, times);
  if (!entered) {
    ++seen_;
    return counts_[found.slot] = saturating_sum(counts_[found.slot], times);  // (1)
  }
  if (held_ < m_) {
    take_slot(held_, target.digest, times, 0);  // (2)
    put(found.at, held_++);
    return times;
  }
  const std::uint64_t slot = least_slot();
  seen_ += min_ > 0;
  const std::uint64_t count = saturating_sum(min_, times);
  // The index has room for one more, so that the free place need not be looked for again. Should
  // the tags be equal, so are both entries, and either may go.
  index_[found.at] = tag_of(target.digest) << 32 | (slot + 1);
  take_out(slot);
  take_slot(slot, target.digest, count, min_);  // (3)
  return count;
}

std::uint64_t SpaceSaving::estimate(const Target& target) const noexcept {
  const Found found = find(target.digest);
  return found.slot == m_ ? min_ : counts_[found.slot];
}

void SpaceSaving::name(Digest digest, std::string_view text) noexcept {
  const Found found = find(digest);
  if (found.slot == m_) return;
  std::byte* const at = text_of(found.slot);
  std::uint16_t length;
  std::memcpy(&length, at, sizeof length);
  if (length != 0) return;
  length = static_cast<std::uint16_t>(std::min<std::uint64_t>(text.size(), longest_text) + 1);
  const std::uint64_t kept = std::min<std::uint64_t>(text.size(), text_);
  std::memcpy(at, &length, sizeof length);
  std::memcpy(at + sizeof length, text.data(), kept);
  std::memset(at + sizeof length + kept, 0, text_ - kept);
}

void SpaceSaving::append_entries(std::vector<Top::Entry>& out) const {
  for (std::uint64_t i = 0; i < held_; ++i) {
    Top::Entry entry;
    entry.digest = slots_[i].digest;
    entry.most = counts_[i];
    entry.least = counts_[i] - slots_[i].error;
    std::uint16_t length;
    std::memcpy(&length, text_of(i), sizeof length);
    entry.named = length != 0;
    if (entry.named) {
      entry.text_bytes = length - 1u;
      entry.text.assign(reinterpret_cast<const char*>(text_of(i)) + sizeof length,
                        std::min(entry.text_bytes, text_));
    }
    out.push_back(std::move(entry));
  }
}

// The index must lead to every slot in use and to nothing else, since slots are believed from here
// on: as many entries as slots in use, and each slot found at its own.
void SpaceSaving::verify() const {
  const auto refuse = [](const char* why) { throw Error(ErrorCode::BadState, why); };
  if (held_ > m_ || hand_ > m_ || seen_ > records_ || total_ >> 63 != 0)
    refuse("its registers do not fit its slots");
  if (held_ < m_ && min_ != 0) refuse("keys were pushed out while slots were free");
  std::uint64_t entries = 0;
  for (std::uint64_t at = 0; at < places(); ++at) {
    if (index_[at] == 0) continue;
    ++entries;
    const std::uint64_t slot = (index_[at] & 0xffffffff) - 1;
    if (slot >= held_ || index_[at] >> 32 != tag_of(slots_[slot].digest))
      refuse("its index leads to a wrong slot");
  }
  if (entries != held_) refuse("its index does not fit its slots");
  for (std::uint64_t i = 0; i < held_; ++i) {
    // Half of the 64 bits are left for what comes, as for the records.
    if (counts_[i] < min_ || counts_[i] >> 63 != 0 || slots_[i].error >= counts_[i])
      refuse("its counts contradict each other");
    if (find(slots_[i].digest).slot != i) refuse("its index does not lead to a slot");
  }
  for (std::uint64_t i = held_; i < m_; ++i)
    if (counts_[i] != 0) refuse("a slot that is not in use has a count");
}

void SpaceSaving::health(Health& health) const noexcept {
  health.fill = static_cast<double>(held_) / static_cast<double>(m_);
  health.fpr = min_ > 0 ? 1 : 0;
  health.records = records_;
  health.seen = seen_;
}

void SpaceSaving::merge(const SpaceSaving& other) {
  // What can fail comes first: room for the order of our slots and of the other's new keys.
  std::vector<std::uint32_t> ours(held_), theirs;
  theirs.reserve(other.held_);
  for (std::uint64_t i = 0; i < held_; ++i) {  // (4)
    const Found there = other.find(slots_[i].digest);
    const bool both = there.slot != other.m_;
    counts_[i] = saturating_sum(counts_[i], both ? other.counts_[there.slot] : other.min_);
    slots_[i].error += both ? other.slots_[there.slot].error : other.min_;
  }
  for (std::uint64_t i = 0; i < other.held_; ++i)
    if (find(other.slots_[i].digest).slot == m_) theirs.push_back(static_cast<std::uint32_t>(i));
  const std::uint64_t from = min_;
  min_ += other.min_;
  std::size_t next = 0;
  const auto take = [&](std::uint64_t slot) {
    const std::uint64_t i = theirs[next++];
    const std::uint64_t count = saturating_sum(other.counts_[i], from);
    take_slot(slot, other.slots_[i].digest, count, other.slots_[i].error + from);
    std::memcpy(text_of(slot), other.text_of(i), sizeof(std::uint16_t) + text_);
    put(find(other.slots_[i].digest).at, slot);
  };
  // (5) Their largest take the free slots, then those of our smallest, while they are larger.
  std::ranges::sort(theirs, [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(other.counts_[b], other.slots_[b].digest) <
           std::pair(other.counts_[a], other.slots_[a].digest);
  });
  std::iota(ours.begin(), ours.end(), 0u);
  std::ranges::sort(ours, [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(counts_[a], slots_[a].digest) < std::pair(counts_[b], slots_[b].digest);
  });
  while (next < theirs.size() && held_ < m_) take(held_++);
  for (const std::uint32_t slot : ours) {
    if (next == theirs.size()) break;
    if (other.counts_[theirs[next]] + from <= counts_[slot]) break;
    min_ = std::max(min_, counts_[slot]);
    take_out(slot);
    take(slot);
  }
  if (next < theirs.size()) min_ = std::max(min_, other.counts_[theirs[next]] + from);
  hand_ = 0;
  total_ = saturating_sum(total_, other.total_);
  records_ += other.records_;
  seen_ += other.seen_;
}

TopPtr make_top(std::string_view spec, const Request& request) {
  StructurePtr made = make_structure(spec, request);
  Top* const top = as_top(*made);
  if (top == nullptr)
    throw Error(ErrorCode::Config,
                std::string(made->info().name) + " keeps no list of keys; space-saving does");
  static_cast<void>(made.release());
  return TopPtr(top);
}

Top* as_top(Structure& structure) noexcept { return dynamic_cast<Top*>(&structure); }

}  // namespace weir
