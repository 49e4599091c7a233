// The BF.* commands, as clients of RedisBloom know them: the same replies, the same sentences. A
// key is a chain of Bloom filters (chain.hpp), made on the side where the command says so.
//
// Replicas are told what was drawn (WEIR.MAKE and WEIR.NOTES) and each filter that a chain grows by
// (WEIR.GROW), between the items before it and those behind; of a command that stopped at an item,
// only what came before. So a replica needs no memory limit and no logarithm of its own.
#include <algorithm>

#include "chain.hpp"
#include "commands.hpp"
#include "core/catalog.hpp"

namespace weir::redis {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }
[[noreturn]] void refuse_known(const char* why) { throw KnownError(why); }

// Null when there is none.
Value* find_chain(const OpenKey& key) {
  Value* const value = key.find();
  if (value == nullptr) return nullptr;
  if (!Chain::is(*value)) wrong_type();
  if (Chain::missing(*value) != 0)
    refuse("a BF.LOADCHUNK into this key has begun and is not finished");
  return value;
}
Value& get_chain(const OpenKey& key) {
  if (Value* const value = find_chain(key)) return *value;
  refuse_known("ERR not found");
}

void reply_bool(const Call& call, bool yes) {
  if (api::ReplyWithBool != nullptr)
    api::ReplyWithBool(call.context, yes ? 1 : 0);  // 1 or 0 where the client speaks RESP2
  else
    call.reply(yes ? 1 : 0);
}

Value& make_chain(const Call& call, OpenKey& key, const ChainPlan& plan) {
  auto made = Chain::make(plan, allowed_bytes(call.context));
  Value& value = *made;
  replicate_made(call, value);
  key.set(std::move(made));
  api::NotifyKeyspaceEvent(call.context, event_module, "bf.reserve", call.raw(1));
  return value;
}

void require_expansion(std::uint64_t& expansion, long long given) {
  if (given < 0 || given > static_cast<long long>(most_expansion))
    refuse_known("ERR expansion must be in the range [0, 32768]");
  expansion = static_cast<std::uint64_t>(given);
}

void reserve(Call& call) {
  if (call.count() > 7) throw WrongArity{};
  ChainPlan plan;
  if (api::StringToDouble(call.raw(2), &plan.error) != ok) refuse_known("ERR bad error rate");
  if (!(plan.error > 0 && plan.error < 1)) refuse_known("ERR (0 < error rate range < 1)");
  long long number;
  if (api::StringToLongLong(call.raw(3), &number) != ok) refuse_known("ERR bad capacity");
  if (number <= 0) refuse_known("ERR (capacity should be larger than 0)");
  plan.capacity = std::min(static_cast<std::uint64_t>(number), most_capacity);
  bool fixed = false, expands = false;
  for (std::size_t i = 4; i < call.count(); ++i) {
    if (call.is(i, "NONSCALING")) {
      fixed = true;
    } else if (call.is(i, "EXPANSION")) {
      expands = true;
      if (++i == call.count()) refuse_known("ERR no expansion");
      if (api::StringToLongLong(call.raw(i), &number) != ok) refuse_known("ERR bad expansion");
      require_expansion(plan.expansion, number);
    } else {
      refuse_known("Unknown argument received");
    }
  }
  if (fixed && expands) refuse_known("Nonscaling filters cannot expand");
  if (fixed) plan.expansion = 0;
  OpenKey key = call.open(open_read | open_write);
  if (find_chain(key) != nullptr) refuse_known("ERR item exists");
  make_chain(call, key, plan);
  call.ok();
}

// They grow to the longest command that came.
struct Batch {
  std::vector<std::string_view> items;
  std::vector<Digest> digests;
  std::vector<Verdict> verdicts;
};
Batch& batch_of(const Call& call, std::size_t first, const Digester& digester) {
  static thread_local Batch batch;
  const std::size_t n = call.count() - first;
  batch.items.resize(n);
  batch.digests.resize(n);
  batch.verdicts.resize(n);
  for (std::size_t i = 0; i < n; ++i) batch.items[i] = call.text(first + i);
  digester(batch.items, batch.digests);
  return batch;
}

// What was taken in, and why no more was; empty when all was.
struct Taken {
  std::span<const Verdict> verdicts;
  std::string refused;
};

// The arguments from `first` on.
Taken take_in(const Call& call, Value& value, std::size_t first) {
  Chain chain(value);
  Batch& batch = batch_of(call, first, chain.digester());
  const std::span<const Digest> digests = batch.digests;
  const std::span<Verdict> verdicts = batch.verdicts;
  std::size_t done = 0, told = 0;
  const auto tell = [&] {
    if (told < done)
      api::Replicate(call.context, "BF.MADD", "sv", call.raw(1), call.from(first + told),
                     done - told);
    told = done;
  };
  std::string refused;
  bool grew = false;
  while ((done += chain.add(digests.subspan(done), verdicts.subspan(done))) < digests.size()) {
    try {
      const std::string spec = chain.next(allowed_bytes(call.context));
      chain.grow(spec);
      tell();
      api::Replicate(call.context, "WEIR.GROW", "sb", call.raw(1), spec.data(), spec.size());
      grew = true;
    } catch (const std::exception& error) {
      refused = error.what();
      break;
    }
  }
  if (!grew && refused.empty())
    api::ReplicateVerbatim(call.context);
  else
    tell();
  if (done > 0) api::NotifyKeyspaceEvent(call.context, event_module, "bf.add", call.raw(1));
  return {verdicts.first(done), refused};
}

// One for each item; where one was refused, its error is the last.
void reply_taken(const Call& call, const Taken& taken) {
  api::ReplyWithArray(call.context,
                      static_cast<long>(taken.verdicts.size() + !taken.refused.empty()));
  for (const Verdict verdict : taken.verdicts) reply_bool(call, verdict == Verdict::New);
  if (!taken.refused.empty()) api::ReplyWithError(call.context, ("ERR " + taken.refused).c_str());
}

Value& get_or_make(const Call& call, OpenKey& key, const ChainPlan& plan) {
  Value* const there = find_chain(key);
  return there != nullptr ? *there : make_chain(call, key, plan);
}

void add(Call& call) {
  OpenKey key = call.open(open_read | open_write);
  const Taken taken = take_in(call, get_or_make(call, key, {}), 2);
  if (!taken.refused.empty()) refuse(taken.refused);
  reply_bool(call, taken.verdicts.front() == Verdict::New);
}

void madd(Call& call) {
  OpenKey key = call.open(open_read | open_write);
  reply_taken(call, take_in(call, get_or_make(call, key, {}), 2));
}

void insert(Call& call) {
  ChainPlan plan;
  bool create = true, fixed = false;
  long long number;
  std::size_t i = 2;
  for (; i < call.count() && !call.is(i, "ITEMS"); ++i) {
    const auto option = [&](const char* name) {
      if (!call.is(i, name)) return false;
      if (++i == call.count()) throw WrongArity{};
      return true;
    };
    if (call.is(i, "NOCREATE")) {
      create = false;
    } else if (call.is(i, "NONSCALING")) {
      fixed = true;
    } else if (option("ERROR")) {
      if (api::StringToDouble(call.raw(i), &plan.error) != ok) refuse_known("Bad error rate");
      if (!(plan.error > 0 && plan.error < 1)) refuse_known("Bad argument received");
    } else if (option("CAPACITY")) {
      if (api::StringToLongLong(call.raw(i), &number) != ok) refuse_known("Bad capacity");
      if (number < 1) refuse_known("Bad argument received");
      plan.capacity = std::min(static_cast<std::uint64_t>(number), most_capacity);
    } else if (option("EXPANSION")) {
      if (api::StringToLongLong(call.raw(i), &number) != ok) refuse_known("Bad expansion");
      require_expansion(plan.expansion, number);
    } else {
      refuse_known("Unknown argument received");
    }
  }
  if (i + 1 >= call.count()) throw WrongArity{};
  if (fixed) plan.expansion = 0;
  OpenKey key = call.open(open_read | open_write);
  Value& value = create ? get_or_make(call, key, plan) : get_chain(key);
  reply_taken(call, take_in(call, value, i + 1));
}

// A key that is not there holds nothing.
std::span<const Verdict> look(const Call& call, const OpenKey& key) {
  Value* const value = find_chain(key);
  if (value == nullptr) {
    static thread_local std::vector<Verdict> none;
    none.assign(call.count() - 2, Verdict::New);
    return none;
  }
  const Chain chain(*value);
  Batch& batch = batch_of(call, 2, chain.digester());
  chain.contains(batch.digests, batch.verdicts);
  return batch.verdicts;
}

void exists(Call& call) {
  const OpenKey key = call.open(open_read);
  reply_bool(call, look(call, key).front() == Verdict::Seen);
}

void mexists(Call& call) {
  const OpenKey key = call.open(open_read);
  const auto verdicts = look(call, key);
  api::ReplyWithArray(call.context, static_cast<long>(verdicts.size()));
  for (const Verdict verdict : verdicts) reply_bool(call, verdict == Verdict::Seen);
}

void card(Call& call) {
  const OpenKey key = call.open(open_read);
  Value* const value = find_chain(key);
  call.reply(value == nullptr ? 0 : static_cast<long long>(Chain(*value).items()));
}

// All fields as a map; one as a map in RESP3, and in RESP2 its value alone in an array.
void info(Call& call) {
  if (call.count() > 3) throw WrongArity{};
  const OpenKey key = call.open(open_read);
  Value& value = get_chain(key);
  const Chain chain(value);
  constexpr std::uint64_t none = ~std::uint64_t{0};
  const std::uint64_t expansion = chain.plan().expansion;
  const struct {
    const char *option, *name;
    std::uint64_t number;
  } fields[] = {{"CAPACITY", "Capacity", chain.capacity()},
                {"SIZE", "Size", value.memory()},
                {"FILTERS", "Number of filters", value.structures.size()},
                {"ITEMS", "Number of items inserted", chain.items()},
                {"EXPANSION", "Expansion rate", expansion == 0 ? none : expansion}};
  const auto reply_number = [&](const auto& field) {
    if (field.number == none)
      api::ReplyWithNull(call.context);
    else
      call.reply(static_cast<long long>(field.number));
  };
  const auto reply_pair = [&](const auto& field) {
    api::ReplyWithSimpleString(call.context, field.name);
    reply_number(field);
  };
  if (call.count() == 2) {
    api::ReplyWithMap(call.context, std::ssize(fields));
    for (const auto& field : fields) reply_pair(field);
    return;
  }
  for (const auto& field : fields) {
    if (!call.is(2, field.option)) continue;
    if ((api::GetContextFlags(call.context) & flag_resp3) != 0) {
      api::ReplyWithMap(call.context, 1);
      return reply_pair(field);
    }
    api::ReplyWithArray(call.context, 1);
    return reply_number(field);
  }
  refuse_known("Invalid information value");
}

// Internal: a chain's next filter, as replicas are told.
void grow(Call& call) {
  const OpenKey key = call.open(open_read | open_write);
  Value& value = get_chain(key);
  const std::string spec(call.text(2));
  if (value.structures.size() >= Value::most_structures)
    refuse("the chain is as long as it can be");
  require_allowed(call.context, value.memory() + size_structure(spec, {}).bytes);
  Chain(value).grow(spec);
  call.changed("weir.grow");
  call.ok();
}

constexpr Entry table[] = {
    {"BF.RESERVE", run<reserve>, Access::Create, "",
     "key error_rate% capacity# [EXPANSION expansion#] [NONSCALING]",
     "Makes a chain of Bloom filters that grows beyond its capacity", "O(1)"},
    {"BF.ADD", run<add>, Access::Update, "", "key item",
     "Adds an item, and makes the key if there is none; whether it is new",
     "O(N) for N filters of the chain"},
    {"BF.MADD", run<madd>, Access::Update, "", "key item...",
     "Adds items, and makes the key if there is none; for each whether it is new",
     "O(N M) for N filters of the chain and M items"},
    {"BF.INSERT", run<insert>, Access::Update, "",
     "key [CAPACITY capacity#] [ERROR error%] [EXPANSION expansion#] [NOCREATE] [NONSCALING] "
     "ITEMS item...",
     "Adds items, and makes the key as asked for if there is none; for each whether it is new",
     "O(N M) for N filters of the chain and M items"},
    {"BF.EXISTS", run<exists>, Access::Read, "fast", "key item", "Looks an item up",
     "O(N) for N filters of the chain"},
    {"BF.MEXISTS", run<mexists>, Access::Read, "", "key item...", "Looks items up",
     "O(N M) for N filters of the chain and M items"},
    {"BF.CARD", run<card>, Access::Read, "fast", "key",
     "Number of items that were new when they were added", "O(N) for N filters of the chain"},
    {"BF.INFO", run<info>, Access::Read, "fast", "key [field]",
     "Capacity, size, filters, items and expansion of a chain", "O(N) for N filters of the chain"},
    {"WEIR.GROW", run<grow>, Access::Update, "", "key spec",
     "Internal: makes a chain's next filter, as replicas are told", "O(1)"},
};

}  // namespace

std::span<const Entry> bloom_commands() { return table; }

}  // namespace weir::redis
