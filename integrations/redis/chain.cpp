#include "chain.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/bits.hpp"
#include "core/catalog.hpp"

namespace weir::redis {
namespace {

enum Note : std::size_t { Which, Capacity, Error_, Expansion, Parts, Check, Notes };
static_assert(Notes == chain_notes);
constexpr std::uint64_t bloom_chain = 1;  // the first kind of notes there is

// Against damage, not against forgery.
std::uint64_t check_of(const std::vector<std::uint64_t>& notes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < Check; ++i)
    sum = fold_multiply(sum ^ notes[i], 0x9e3779b97f4a7c15) + i + 1;
  return sum;
}

std::vector<std::uint64_t> notes_of(const ChainPlan& plan, std::uint64_t parts) {
  std::vector<std::uint64_t> notes = {
      bloom_chain,    plan.capacity, std::bit_cast<std::uint64_t>(plan.error),
      plan.expansion, parts,         0};
  notes[Check] = check_of(notes);
  return notes;
}

std::uint64_t capacity_of(const ChainPlan& plan, std::size_t i) {
  std::uint64_t capacity = plan.capacity;
  while (i-- > 0 && capacity < most_capacity && plan.expansion > 1) capacity *= plan.expansion;
  return std::min(capacity, most_capacity);
}

double rate_of(const ChainPlan& plan, std::size_t i) {
  if (plan.expansion == 0) return plan.error;
  const double least = std::min(plan.error / 2, std::ldexp(1.0, -50));
  return std::max(std::ldexp(plan.error, -static_cast<int>(i) - 1), least);
}

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }
[[noreturn]] void bad(const char* why) { throw Error(ErrorCode::BadState, why); }

Request request_for(const ChainPlan& plan, std::size_t i) {
  return {.fpr = rate_of(plan, i), .keys = capacity_of(plan, i), .hash = HashKind::SipHash};
}

// As text, so that a replica makes the same filter whatever its arithmetic.
std::string spec_for(const ChainPlan& plan, std::size_t i, std::uint64_t beside,
                     std::uint64_t allowed) {
  const Sized sized = size_structure("bloom", request_for(plan, i));
  if (beside > allowed || sized.bytes > allowed - beside)
    refuse("a key may take " + std::to_string(allowed) + " bytes here, and a filter for " +
           std::to_string(capacity_of(plan, i)) + (i == 0 ? "" : " further") + " items takes " +
           std::to_string(sized.bytes) + "; raise weir.max-bytes-per-key");
  return "bloom:" + sized.params.text();
}

bool same_secret(const Structure& a, const Structure& b) {
  return a.digester().kind() == b.digester().kind() &&
         a.digester().secret() == b.digester().secret();
}

}  // namespace

void set_notes(Value& value, std::vector<std::uint64_t> notes) {
  if (notes.empty()) {
    value.notes.clear();
    return;
  }
  if (notes.size() != Notes || notes[Which] != bloom_chain) bad("these notes are of a newer weir");
  if (notes[Check] != check_of(notes)) bad("the notes of this chain are damaged");
  const double error = std::bit_cast<double>(notes[Error_]);
  const std::size_t parts = value.structures.size();
  if (notes[Capacity] < 1 || notes[Capacity] > most_capacity || !(error > 0 && error < 1) ||
      notes[Expansion] > most_expansion || notes[Parts] > Value::most_structures)
    bad("these notes are not those of a chain");
  // While it comes in, its first filter may be under way; whole, there is one.
  if (notes[Parts] == 0 ? parts == 0 : parts >= notes[Parts])
    bad("the notes do not fit the filters of the chain");
  if (value.window) bad("a chain has no window");
  for (const StructurePtr& structure : value.structures)
    if (std::strcmp(structure->info().name, "bloom") != 0 || structure->shards() != 1 ||
        !same_secret(*structure, *value.structures.front()))
      bad("the filters of this chain do not belong together");
  value.notes = std::move(notes);
  ++value.changes;
}

std::unique_ptr<Value> Chain::make(const ChainPlan& plan, std::uint64_t allowed) {
  auto value = std::make_unique<Value>();
  value->structures.push_back(
      make_structure(spec_for(plan, 0, 0, allowed), {.hash = HashKind::SipHash}));
  set_notes(*value, notes_of(plan, 0));
  return value;
}

std::unique_ptr<Value> Chain::expect(std::vector<std::uint64_t> head) {
  auto value = std::make_unique<Value>();
  set_notes(*value, std::move(head));
  return value;
}

std::vector<std::uint64_t> Chain::head() const {
  return notes_of(plan(), value_.structures.size());
}

void Chain::adopt(StateReader&& state) {
  const ChainPlan plan = Chain::plan();  // the first structure clears the notes
  const std::uint64_t parts = value_.notes[Parts];
  value_.adopt(value_.structures.size(), std::move(state));
  set_notes(value_, notes_of(plan, value_.structures.size() == parts ? 0 : parts));
}

ChainPlan Chain::plan() const {
  return {value_.notes[Capacity], std::bit_cast<double>(value_.notes[Error_]),
          value_.notes[Expansion]};
}

std::uint64_t Chain::missing(const Value& value) {
  const std::uint64_t parts = value.notes[Parts];
  return parts == 0 ? 0 : parts - value.structures.size();
}

std::uint64_t Chain::capacity() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < value_.structures.size(); ++i) sum += capacity_of(plan(), i);
  return sum;
}

std::uint64_t Chain::items() const {
  std::uint64_t sum = 0;
  for (const StructurePtr& structure : value_.structures) {
    const Health health = structure->health();
    sum += health.records - health.seen;
  }
  return sum;
}

double Chain::fpr() const {
  double none = 1;
  for (const StructurePtr& structure : value_.structures) none *= 1 - structure->health().fpr;
  return 1 - none;
}

void Chain::contains(std::span<const Digest> digests, std::span<Verdict> out) const {
  static thread_local std::vector<Verdict> one;
  one.resize(digests.size());
  filter(0).contains(digests, out);
  for (std::size_t f = 1; f < value_.structures.size(); ++f) {
    filter(f).contains(digests, one);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (one[i] == Verdict::Seen) out[i] = Verdict::Seen;
  }
}

std::size_t Chain::add_to_last(std::span<const Digest> digests, std::span<Verdict> out) {
  Filter& last = filter(value_.structures.size() - 1);
  const Health health = last.health();
  const std::uint64_t full = capacity_of(plan(), value_.structures.size() - 1);
  const std::uint64_t held = health.records - health.seen;
  std::uint64_t room = full - std::min(full, held);
  std::size_t i = 0;
  while (i < digests.size()) {
    if (room == 0) {
      if (!last.contains(digests[i])) break;  // (2)
      out[i++] = Verdict::Seen;
      continue;
    }
    // Not more than could all be new.
    const std::size_t n = std::min<std::uint64_t>(room, digests.size() - i);
    last.observe(digests.subspan(i, n), out.subspan(i, n));  // (1) in the last, (3)
    room -= static_cast<std::uint64_t>(std::ranges::count(out.subspan(i, n), Verdict::New));
    i += n;
  }
  return i;
}

std::size_t Chain::add(std::span<const Digest> digests, std::span<Verdict> out) {
  // A further filter means to look the rest up once more: so not all of a long command at once.
  constexpr std::size_t most = 256;
  static thread_local std::vector<Digest> rest;
  static thread_local std::vector<std::size_t> place;
  static thread_local std::vector<Verdict> one;
  ++value_.changes;
  const std::size_t last = value_.structures.size() - 1;
  if (last == 0) return add_to_last(digests, out);
  for (std::size_t begin = 0; begin < digests.size(); begin += most) {
    const std::size_t n = std::min(most, digests.size() - begin);
    const auto some = digests.subspan(begin, n);
    const auto verdicts = out.subspan(begin, n);
    std::ranges::fill(verdicts, Verdict::New);
    one.resize(n);
    for (std::size_t f = 0; f < last; ++f) {  // (1) in those before the last
      filter(f).contains(some, one);
      for (std::size_t i = 0; i < n; ++i)
        if (one[i] == Verdict::Seen) verdicts[i] = Verdict::Seen;
    }
    rest.clear();
    place.clear();
    for (std::size_t i = 0; i < n; ++i)
      if (verdicts[i] == Verdict::New) rest.push_back(some[i]), place.push_back(i);
    one.resize(rest.size());
    const std::size_t done = add_to_last(rest, one);
    for (std::size_t i = 0; i < done; ++i) verdicts[place[i]] = one[i];
    if (done < rest.size()) return begin + place[done];
  }
  return digests.size();
}

std::string Chain::next(std::uint64_t allowed) const {
  if (plan().expansion == 0) refuse("non scaling filter is full");
  if (value_.structures.size() >= Value::most_structures)
    refuse("Maximum expansions reached: the chain has " + std::to_string(Value::most_structures) +
           " filters; reserve more capacity");
  return spec_for(plan(), value_.structures.size(), value_.memory(), allowed);
}

void Chain::grow(const std::string& spec) {
  const Structure& first = *value_.structures.front();
  StructurePtr made = make_structure(spec, {.seed = first.seed(), .digester = first.digester()});
  if (&made->info() != &first.info()) refuse("a chain grows by bloom filters only");
  value_.structures.push_back(std::move(made));
  ++value_.changes;
}

}  // namespace weir::redis
