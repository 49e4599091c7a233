// What a value is and how it fares, and the way of its state out and in.
//
// WEIR.DUMP and WEIR.LOAD speak the bytes of state files, which `weir dedup --state` writes and
// reads, a chunk of about 1 MiB a call. A cursor is the number of bytes before the chunk:
//   WEIR.DUMP key 0 -> [c1, bytes]; WEIR.DUMP key c1 -> [c2, bytes]; ... -> [0, the last bytes]
//   WEIR.LOAD other 0 bytes -> c1;  WEIR.LOAD other c1 bytes -> c2;  ... -> 0
// While a state comes in, the key stays what it was; a new key answers nothing before the state is
// whole and valid. An unfinished load is saved, replicated and goes on after a restart.
#include <ctime>

#include "chain.hpp"
#include "commands.hpp"
#include "plan/expected_fnr.hpp"
#include "plan/window_making.hpp"

namespace weir::redis {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

// Items that were new when they came; of a sketch all occurrences.
std::uint64_t card_of(const Value& value) {
  const Structure& structure = value.only();
  if (structure.info().kind == Kind::Sketch) return value.sketch().total();
  const Health health = structure.health();
  return health.records - health.seen;
}

void card(Call& call) {
  const OpenKey key = call.open(open_read);
  const Value* const value = key.find();
  call.reply(value == nullptr ? 0 : static_cast<long long>(card_of(*value)));
}

// The secret is not among these, nor the seed that it may follow from.
class Fields {
 public:
  explicit Fields(Call& call, const Value& value)
      : call_(call), value_(value), health_(value.only().health()) {}

  template <class Use>
  void each(Use use) {
    const Structure& s = value_.only();
    const bool sketch = s.info().kind == Kind::Sketch;
    use("filter", [&] { call_.reply(s.info().name); });
    use("kind", [&] { call_.reply(kind_name(s.info().kind)); });
    use("parameters", [&] { call_.reply(s.parameters()); });
    use("shards", [&] { call_.reply(s.shards()); });
    use("hash", [&] { call_.reply(s.digester().kind() == HashKind::Xxh3 ? "xxh3" : "siphash"); });
    use("bytes", [&] { call_.reply(static_cast<long long>(s.memory())); });
    use("fill", [&] { api::ReplyWithDouble(call_.context, health_.fill); });
    if (!sketch) {
      use("fpr", [&] { api::ReplyWithDouble(call_.context, health_.fpr); });
      use("records", [&] { call_.reply(static_cast<long long>(health_.records)); });
      use("seen", [&] { call_.reply(static_cast<long long>(health_.seen)); });
      use("new", [&] { call_.reply(static_cast<long long>(health_.records - health_.seen)); });
    } else {
      const Sketch& counts = value_.sketch();
      use("total", [&] { call_.reply(static_cast<long long>(counts.total())); });
      use("surplus", [&] { api::ReplyWithDouble(call_.context, counts.error().surplus); });
      use("chance", [&] { api::ReplyWithDouble(call_.context, counts.error().chance); });
    }
    if (value_.window) {
      const Window& w = *value_.window;
      const bool time = value_.by_time();
      use("window", [&] { call_.reply(kind_name(w.kind)); });
      use(time ? "window_microseconds" : "window_items",
          [&] { call_.reply(static_cast<long long>(w.length)); });
      use("window_step", [&] { call_.reply(static_cast<long long>(w.step)); });
    }
  }

 private:
  Call& call_;
  const Value& value_;
  Health health_;
};

// The same of a chain of Bloom filters, as a whole.
class ChainFields {
 public:
  ChainFields(Call& call, Value& value) : call_(call), value_(value), chain_(value) {}

  template <class Use>
  void each(Use use) {
    use("filter", [&] { call_.reply("bloom-chain"); });
    use("kind", [&] { call_.reply("filter"); });
    use("filters", [&] { call_.reply(static_cast<long long>(value_.structures.size())); });
    use("capacity", [&] { call_.reply(static_cast<long long>(chain_.capacity())); });
    use("hash", [&] { call_.reply("siphash"); });
    use("bytes", [&] { call_.reply(static_cast<long long>(value_.memory())); });
    use("fpr", [&] { api::ReplyWithDouble(call_.context, chain_.fpr()); });
    use("new", [&] { call_.reply(static_cast<long long>(chain_.items())); });
  }

 private:
  Call& call_;
  Value& value_;
  Chain chain_;
};

constexpr double patience = 0.1;  // seconds, and the prediction that is under way then

void reply_fnr(const Call& call, const Value& value) {
  const auto fnr = value.window ? std::nullopt : expected_fnr(value.only(), patience);
  if (fnr)
    api::ReplyWithDouble(call.context, *fnr);
  else
    api::ReplyWithNull(call.context);
}

template <class All>
void reply_fields(Call& call, All fields) {
  if (call.count() == 3) {
    bool found = false;
    std::string wanted(call.text(2)), names;
    for (char& c : wanted) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    fields.each([&](const char* name, auto reply) {
      names += std::string(name) + ", ";
      if (found || name != wanted) return;
      found = true;
      reply();
    });
    if (!found) refuse("there is no such field; there are " + names + "expected_fnr");
    return;
  }
  long count = 0;
  fields.each([&](const char*, auto) { ++count; });
  api::ReplyWithMap(call.context, count);
  fields.each([&](const char* name, auto reply) {
    call.reply(name);
    reply();
  });
}

void info(Call& call) {
  if (call.count() > 3) throw WrongArity{};
  const OpenKey key = call.open(open_read);
  Value& value = key.get();
  const bool asks_fnr = call.count() == 3 && call.is(2, "EXPECTED_FNR");
  if (Chain::is(value) && Chain::missing(value) == 0) {
    if (asks_fnr) return static_cast<void>(api::ReplyWithDouble(call.context, 0));
    return reply_fields(call, ChainFields(call, value));
  }
  // It is a search with a model of the filter: only for who asks.
  if (asks_fnr) return reply_fnr(call, value);
  reply_fields(call, Fields(call, value));
}

class Skip final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override { skipped += bytes.size(); }
  std::uint64_t skipped = 0;
};

class Gather final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override {
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string all;
};

void dump(Call& call) {
  const std::uint64_t at = call.whole(2, "the cursor", 0, std::uint64_t{1} << 61);
  const OpenKey key = call.open(open_read);
  Value& value = key.get();
  const Structure& structure = value.only();
  auto& dump = value.dump;
  const bool stale = !dump || dump->changes != value.changes;
  if (at != 0 && stale)
    refuse(
        "the key has changed since this dump began; begin again at 0, or COPY the key and dump "
        "the copy");
  if (stale || dump->at != at) {
    const auto job = value.job();
    const std::int64_t saved_at = stale ? std::time(nullptr) : dump->saved_at;
    dump.emplace(Value::Dump{StateWriter(structure, job ? &*job : nullptr, saved_at), 0,
                             value.changes, saved_at});
    Skip skip;
    while (skip.skipped < at && !dump->writer.done()) dump->writer.write_piece(skip);
    if (skip.skipped != at) {
      dump.reset();
      refuse("this is not a cursor that WEIR.DUMP gave");
    }
    dump->at = at;
  }
  Gather chunk;
  while (!dump->writer.done() && chunk.all.size() < Chunks::most * 3 / 4)
    dump->writer.write_piece(chunk);
  dump->at += chunk.all.size();
  const bool done = dump->writer.done();
  api::ReplyWithArray(call.context, 2);
  call.reply(done ? 0 : static_cast<long long>(dump->at));
  call.reply(chunk.all);
  if (done) dump.reset();
}

// What fails ends the load, here and on replicas; a key that held nothing else goes.
void load(Call& call) {
  if (call.count() != 4 && !(call.count() == 6 && call.is(4, "PART"))) throw WrongArity{};
  const std::uint64_t at = call.whole(2, "the cursor", 0, std::uint64_t{1} << 61);
  const std::size_t part =
      call.count() == 6 ? call.whole(5, "the part", 0, Value::most_structures) : 0;
  if (call.text(3).empty()) refuse("a chunk must not be empty");
  OpenKey key = call.open(open_read | open_write);
  Value* value = key.find();
  if (part > 0 && value != nullptr && !value->notes.empty())
    refuse("this key holds a chain of filters; use BF.LOADCHUNK");
  if (at != 0) {
    if (value == nullptr || !value->loading) refuse("no load has begun; it begins at cursor 0");
    const std::uint64_t taken = value->loading->reader.taken();
    if (at != taken || part != value->loading->part)
      refuse("this load is at cursor " + std::to_string(taken));
  } else {
    if (value == nullptr) {
      auto made = std::make_unique<Value>();
      value = made.get();
      key.set(std::move(made));
    }
    value->loading.reset();
    const std::uint64_t allowed = allowed_bytes(call.context);
    const std::uint64_t beside = part == 0 ? 0 : value->memory();  // it joins what is there
    value->loading.emplace(
        Value::Loading{part, StateReader(beside < allowed ? allowed - beside : 0)});
  }
  try {
    const std::string_view bytes = call.text(3);
    StateReader& reader = value->loading->reader;
    reader.take(std::as_bytes(std::span(bytes.data(), bytes.size())));
    const bool done = reader.done();
    const auto next = static_cast<long long>(reader.taken());
    if (done) {
      StateReader whole = std::move(reader);
      value->loading.reset();
      value->adopt(part, std::move(whole));
    }
    call.changed("weir.load");
    call.reply(done ? 0 : next);
  } catch (const std::exception&) {
    value->loading.reset();
    if (value->structures.empty()) key.remove();
    api::ReplicateVerbatim(call.context);
    throw;
  }
}

void notes(Call& call) {
  const OpenKey key = call.open(open_read | open_write);
  Value& value = key.get();
  const std::string_view bytes = call.text(2);
  if (bytes.size() % 8 != 0 || bytes.size() / 8 > Value::most_notes)
    refuse("these are not the notes of a value");
  std::vector<std::uint64_t> notes(bytes.size() / 8);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(notes.data()));
  set_notes(value, std::move(notes));
  api::ReplicateVerbatim(call.context);
  call.ok();
}

constexpr Entry table[] = {
    {"WEIR.CARD", run<card>, Access::Read, "fast", "key",
     "Number of items that were new when they were added; of a sketch all occurrences", "O(1)"},
    {"WEIR.INFO", run<info>, Access::Read, "", "key [field]",
     "What the key holds, how full it is and which error that gives now", "O(1)"},
    {"WEIR.DUMP", run<dump>, Access::Read, "", "key cursor#",
     "A chunk of the state, as state files have it; it holds the key's secret",
     "O(1) a chunk of 1 MiB"},
    {"WEIR.LOAD", run<load>, Access::Create, "", "key cursor# bytes [PART number#]",
     "Takes a chunk of a state in; the last one makes it the key's value", "O(1) a chunk of 1 MiB"},
    {"WEIR.NOTES", run<notes>, Access::Update, "", "key bytes",
     "Internal: what the append-only file keeps beside structures", "O(1)"},
};

}  // namespace

std::span<const Entry> state_commands() { return table; }

}  // namespace weir::redis
