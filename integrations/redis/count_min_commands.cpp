// The CMS.* commands, as clients of RedisBloom know them: the same replies, the same sentences.
//
// A key is a count-min sketch with plain updates and counters of 32 bits; the WEIR.* commands work
// on it, and these work on every key that holds count-min. CMS.MERGE adds any two of one size, so
// all keys that CMS.INITBY* makes hash with one secret, which follows from the module's argument
// cms-seed. Whoever knows that seed can choose items that collide.
#include <cmath>
#include <cstring>
#include <limits>

#include "chain.hpp"
#include "commands.hpp"
#include "core/catalog.hpp"
#include "sketch/count_min.hpp"

namespace weir::redis {

std::uint64_t count_min_seed = 0;

namespace {

[[noreturn]] void refuse(const char* why) { throw KnownError(why); }

Value& get(const OpenKey& key) {
  Value* const value = key.find();
  if (value == nullptr) refuse("CMS: key does not exist");
  if (Chain::is(*value) || std::strcmp(value->only().info().name, "count-min") != 0) wrong_type();
  return *value;
}

std::uint64_t parameter(const Structure& structure, const char* name) {
  return Params::parse(structure.parameters())
      .whole(name, 0, std::numeric_limits<std::uint64_t>::max());
}

void make(Call& call, OpenKey& key, std::uint64_t width, std::uint64_t depth) {
  const std::string spec = "count-min:w=" + std::to_string(width) + ",d=" + std::to_string(depth);
  const Request request = {.hash = HashKind::SipHash, .seed = count_min_seed};
  std::uint64_t bytes = 0;
  try {
    bytes = size_structure(spec, request).bytes;
  } catch (const Error&) {
    refuse("CMS: invalid init arguments");
  }
  require_allowed(call.context, bytes);
  auto value = std::make_unique<Value>();
  value->structures.push_back(make_structure(spec, request));
  replicate_made(call, *value);
  key.set(std::move(value));
  api::NotifyKeyspaceEvent(call.context, event_module, "cms.init", call.raw(1));
  call.ok();
}

void init_by_dim(Call& call) {
  OpenKey key = call.open(open_read | open_write);
  if (!key.empty()) refuse("CMS: key already exists");
  long long width, depth;
  if (api::StringToLongLong(call.raw(2), &width) != ok || width < 1) refuse("CMS: invalid width");
  if (api::StringToLongLong(call.raw(3), &depth) != ok || depth < 1) refuse("CMS: invalid depth");
  if (depth > static_cast<long long>(CountMin::max_d))
    refuse("CMS: invalid depth (32 rows at most)");
  make(call, key, static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(depth));
}

// Each of depth rows is off by more than a share `error` with a chance of one half at most.
void init_by_prob(Call& call) {
  OpenKey key = call.open(open_read | open_write);
  if (!key.empty()) refuse("CMS: key already exists");
  double error, chance;
  if (api::StringToDouble(call.raw(2), &error) != ok || !(error > 0 && error < 1))
    refuse("CMS: invalid overestimation value");
  if (api::StringToDouble(call.raw(3), &chance) != ok || !(chance > 0 && chance < 1))
    refuse("CMS: invalid prob value");
  const double width = std::ceil(2 / error), depth = std::ceil(-std::log2(chance));
  if (depth > CountMin::max_d) refuse("CMS: invalid prob value (2^-32 at least)");
  if (width > 1e18) refuse("CMS: invalid init arguments");
  make(call, key, static_cast<std::uint64_t>(width),
       static_cast<std::uint64_t>(std::max(depth, 1.0)));
}

// A counter at its maximum says "at least".
bool saturated(const Structure& structure, std::uint64_t estimate) {
  if (((estimate + 1) & estimate) != 0 || estimate < 0xff) return false;  // of no width
  return estimate == ~std::uint64_t{0} >> (64 - parameter(structure, "bits"));
}

void incrby(Call& call) {
  if (call.count() % 2 != 0) throw WrongArity{};
  const OpenKey key = call.open(open_read | open_write);
  Value& value = get(key);
  long long by;
  for (std::size_t i = 3; i < call.count(); i += 2) {
    if (api::StringToLongLong(call.raw(i), &by) != ok) refuse("CMS: Cannot parse number");
    if (by < 0) refuse("CMS: Number cannot be negative");
  }
  Sketch& sketch = value.sketch();
  ++value.changes;
  api::ReplyWithArray(call.context, static_cast<long>(call.count() / 2 - 1));
  for (std::size_t i = 2; i < call.count(); i += 2) {
    api::StringToLongLong(call.raw(i + 1), &by);
    const std::uint64_t estimate =
        sketch.add(sketch.digest(call.text(i)), static_cast<std::uint64_t>(by));
    if (saturated(sketch, estimate))
      api::ReplyWithError(call.context, "CMS: INCRBY overflow");
    else
      call.reply(static_cast<long long>(estimate));
  }
  call.changed("cms.incrby");
}

void query(Call& call) {
  const OpenKey key = call.open(open_read);
  const Sketch& sketch = get(key).sketch();
  api::ReplyWithArray(call.context, static_cast<long>(call.count() - 2));
  for (std::size_t i = 2; i < call.count(); ++i)
    call.reply(static_cast<long long>(sketch.estimate(sketch.digest(call.text(i)))));
}

// Whether weights follow the sources.
bool weighted(const Call& call, std::size_t sources) {
  const std::size_t rest = call.count() - 3;
  if (rest == sources) return false;
  if (sources < rest && call.is(3 + sources, "WEIGHTS") && rest == 2 * sources + 1) return true;
  for (std::size_t i = 3; i < call.count(); ++i)
    if (call.is(i, "WEIGHTS")) refuse("CMS: wrong number of keys/weights");
  refuse("CMS: wrong number of keys");
}

// The destination becomes the sum; what it held counts only if it is among the sources.
void merge(Call& call) {
  const OpenKey into = call.open(open_read | open_write);
  Value& dest = get(into);
  long long sources;
  if (api::StringToLongLong(call.raw(2), &sources) != ok) refuse("CMS: invalid numkeys");
  if (sources <= 0) refuse("CMS: Number of keys must be positive");
  if (static_cast<std::size_t>(sources) > call.count()) refuse("CMS: wrong number of keys");
  const auto n = static_cast<std::size_t>(sources);
  const bool given = weighted(call, n);
  std::vector<const Sketch*> parts;
  std::vector<std::int64_t> weights(n, 1);
  const Sketch& sum = dest.sketch();
  for (std::size_t i = 0; i < n; ++i) {
    long long weight = 1;
    if (given && api::StringToLongLong(call.raw(4 + n + i), &weight) != ok)
      refuse("CMS: invalid weight value");
    weights[i] = weight;
    const OpenKey key = call.open(open_read, 3 + i);
    const Sketch& part = get(key).sketch();
    if (part.parameters() != sum.parameters() || part.shards() != sum.shards())
      refuse("CMS: width/depth is not equal");
    if (part.digester().kind() != sum.digester().kind() ||
        part.digester().secret() != sum.digester().secret())
      refuse("CMS: these keys hash with different secrets; make all of them by CMS.INITBY*");
    parts.push_back(&part);
  }
  try {
    dest.sketch().set_sum(parts, weights);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Config) throw;
    refuse("CMS: MERGE overflow");
  }
  ++dest.changes;
  call.changed("cms.merge");
  call.ok();
}

void info(Call& call) {
  const OpenKey key = call.open(open_read);
  const Sketch& sketch = get(key).sketch();
  const auto field = [&](const char* name, std::uint64_t number) {
    api::ReplyWithSimpleString(call.context, name);
    call.reply(static_cast<long long>(number));
  };
  api::ReplyWithMap(call.context, 3);
  field("width", parameter(sketch, "w"));
  field("depth", parameter(sketch, "d"));
  field("count", sketch.total());
}

constexpr Entry table[] = {
    {"CMS.INITBYDIM", run<init_by_dim>, Access::Create, "", "key width# depth#",
     "Makes a count-min sketch of so many rows and counters a row", "O(1)"},
    {"CMS.INITBYPROB", run<init_by_prob>, Access::Create, "", "key error% probability%",
     "Makes a count-min sketch for an error, as a share of all counts, and its chance", "O(1)"},
    {"CMS.INCRBY", run<incrby>, Access::Update, "", "key item increment# [more...]",
     "Counts occurrences; for each item the estimate that includes them", "O(N) for N items"},
    {"CMS.QUERY", run<query>, Access::Read, "", "key item...", "Estimates how often items came",
     "O(N) for N items"},
    {"CMS.MERGE", run<merge>, Access::Sum, "", "key numkeys# source... [WEIGHTS weight#...]",
     "Makes the key the sum of others, each taken as often as its weight says",
     "O(N M) for N keys of M counters"},
    {"CMS.INFO", run<info>, Access::Read, "fast", "key", "Width, depth and the sum of all counts",
     "O(1)"},
};

}  // namespace

std::span<const Entry> count_min_commands() { return table; }

}  // namespace weir::redis
