// Making a value, and what a filter answers.
//
// Two things are not the same everywhere, so replicas are told them: the secret and the seed that a
// new value draws (WEIR.MAKE, instead of WEIR.RESERVE), and the time (WEIR.ADVANCE, before the
// command that first sees a new generation of a window of time). Everything else is replicated as
// it came.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "commands.hpp"
#include "core/catalog.hpp"
#include "plan/window_making.hpp"

namespace weir::redis {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

std::int64_t now_microseconds() { return api::Milliseconds() * 1000; }

constexpr std::uint64_t most_seconds = std::uint64_t{1000} * 366 * 86400;

// On a primary: the window of time goes to where the server's clock is. Replicas and a server that
// reads its append-only file are told.
void follow_clock(const Call& call, Value& value) {
  if (!value.by_time()) return;
  if ((api::GetContextFlags(call.context) & (flag_replicated | flag_loading)) != 0) return;
  const std::int64_t begin = value.generation_begin(now_microseconds());
  if (value.window->started && begin <= value.window->now) return;
  value.advance(begin);
  api::Replicate(call.context, "WEIR.ADVANCE", "sl", call.raw(1), static_cast<long long>(begin));
}

struct Reserve {
  std::string filter;
  Request request{.hash = HashKind::SipHash};
  std::optional<Window> window;
  bool memory_given = false;
};

void require_value(bool has, const char* name) {
  if (!has) refuse(std::string(name) + " needs a value");
}

Reserve parse_reserve(const Call& call) {
  Reserve reserve;
  for (std::size_t i = 2; i < call.count(); i += 2) {
    const bool has = i + 1 < call.count();
    const auto option = [&](const char* name) {
      if (!call.is(i, name)) return false;
      require_value(has, name);
      return true;
    };
    if (option("MEMORY")) {
      reserve.request.memory = call.whole(i + 1, "MEMORY", 4096, std::uint64_t{1} << 48);
      reserve.memory_given = true;
    } else if (option("FILTER")) {
      reserve.filter = call.text(i + 1);
    } else if (option("FPR")) {
      reserve.request.fpr = call.real(i + 1, "FPR");
    } else if (option("WINDOW") || option("TTL")) {
      if (reserve.window) refuse("a window is either a number of items or a time");
      const bool ttl = call.is(i, "TTL");
      reserve.window.emplace();
      reserve.window->length = ttl ? call.whole(i + 1, "TTL", 1, most_seconds) * 1'000'000
                                   : call.whole(i + 1, "WINDOW", 1, std::uint64_t{1} << 48);
      if (ttl) reserve.window->clock = Window::Clock::Arrival;
    } else if (option("KEYS")) {
      reserve.request.keys = call.whole(i + 1, "KEYS", 1, std::uint64_t{1} << 48);
    } else if (option("SEED")) {
      const std::string_view hex = call.text(i + 1);
      std::uint64_t seed = 0;
      const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), seed, 16);
      if (error != std::errc() || end != hex.data() + hex.size())
        refuse("SEED must be 1 to 16 hexadecimal digits");
      reserve.request.seed = seed;
    } else if (option("HASH")) {
      const bool sip = call.is(i + 1, "SIPHASH");
      if (!sip && !call.is(i + 1, "XXH3")) refuse("HASH must be siphash or xxh3");
      reserve.request.hash = sip ? HashKind::SipHash : HashKind::Xxh3;
    } else {
      refuse("there is no option '" + std::string(call.text(i)) +
             "'; there are FILTER, MEMORY, FPR, WINDOW, TTL, KEYS, SEED and HASH");
    }
  }
  if (!reserve.memory_given) refuse("say how much memory the key may take: MEMORY bytes");
  return reserve;
}

// The kind of window that the filter is for; nothing said: sliding.
Window::Kind kind_for(std::string_view filter) {
  const std::string name(filter.substr(0, filter.find(':')));
  const StructureInfo* const info = find_structure(name);
  if (name == "a2") return Window::Kind::Jumping;
  return info != nullptr && info->kind == Kind::Filter && !info->forgets ? Window::Kind::Landmark
                                                                         : Window::Kind::Sliding;
}

// With the window's step, where there is one.
StructurePtr make_wanted(Reserve& wanted, std::uint64_t memory) {
  Request request = wanted.request;
  // The server counts blocks only: what making one needs for a moment is its own affair.
  request.memory = memory + budget_reserve;
  if (!wanted.window)
    return make_structure(wanted.filter.empty() ? "weir" : wanted.filter, request);
  wanted.window->kind = kind_for(wanted.filter);
  const WindowWish wish = {.filter = wanted.filter,
                           .request = request,
                           .window_option = "the window",
                           .filter_option = "FILTER"};
  return make_for_window(*wanted.window, wish, [](const std::string& spec, const Request& r) {
    return make_structure(spec, r);
  });
}

// The least of the allocator's sizes that would do, up to `most`; 0 when none does. More memory is
// never worse, so halving finds it.
std::uint64_t enough_memory(Reserve wanted, std::uint64_t most) {
  const auto size = [](unsigned i) { return std::uint64_t{4 + i % 4} << (10 + i / 4); };
  const auto enough = [&](std::uint64_t memory) {
    try {
      make_wanted(wanted, memory);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  unsigned low = 0, high = 0;
  while (size(high + 1) <= std::min(most, std::uint64_t{1} << 40)) ++high;
  if (!enough(size(high))) return 0;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (enough(size(middle)))
      high = middle;
    else
      low = middle + 1;
  }
  return size(high);
}

StructurePtr make_or_say_what_would_do(Reserve& wanted, std::uint64_t most) {
  try {
    return make_wanted(wanted, wanted.request.memory);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Config) throw;
    const std::uint64_t enough = enough_memory(wanted, most);
    if (enough <= wanted.request.memory) throw;
    refuse("MEMORY " + std::to_string(wanted.request.memory) + " is too little for this; MEMORY " +
           std::to_string(enough) + " would do");
  }
}

void reserve(Call& call) {
  Reserve wanted = parse_reserve(call);
  OpenKey key = call.open(open_read | open_write);
  if (key.find() != nullptr) refuse("the key exists already; DEL it first, or WEIR.RESET it");
  require_allowed(call.context, wanted.request.memory);
  StructurePtr made = make_or_say_what_would_do(wanted, allowed_bytes(call.context));
  auto value = std::make_unique<Value>();
  if (made->info().kind == Kind::Sample)
    refuse(std::string(made->info().name) + " is a sample; choose a filter or a sketch");
  value->window = wanted.window;
  value->structures.push_back(std::move(made));
  replicate_made(call, *value);
  key.set(std::move(value));
  api::NotifyKeyspaceEvent(call.context, event_module, "weir.reserve", call.raw(1));
  call.ok();
}

// WEIR.RESERVE as replicas get it, with what was drawn and what followed.
void make(Call& call) {
  OpenKey key = call.open(open_read | open_write);
  if (key.find() != nullptr) refuse("the key exists already");
  Digester::Secret secret;
  if (call.text(5).size() != secret.size()) refuse("the secret must have 192 bytes");
  std::memcpy(secret.data(), call.text(5).data(), secret.size());
  std::uint64_t seed = 0;
  const std::string_view digits = call.text(6);
  std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  const auto hash = static_cast<HashKind>(call.whole(4, "the hash", 1, 2));
  auto value = std::make_unique<Value>();
  const Request request = {
      .shards = static_cast<std::uint32_t>(call.whole(3, "the shards", 1, 65536)),
      .seed = seed,
      .digester = Digester::from_secret(hash, secret)};
  const std::string spec(call.text(2));
  require_allowed(call.context, size_structure(spec, request).bytes);
  value->structures.push_back(make_structure(spec, request));
  if (const auto length = call.whole(9, "the window", 0, std::uint64_t{1} << 61)) {
    Window window;
    window.kind = static_cast<Window::Kind>(call.whole(7, "the window's kind", 0, 2));
    window.clock = static_cast<Window::Clock>(call.whole(8, "the window's clock", 0, 1));
    window.length = length;
    window.step = call.whole(10, "the window's step", 1, length);
    require_holds(*value->structures.front(), window);
    value->window = window;
  }
  key.set(std::move(value));
  call.changed("weir.reserve");
  call.ok();
}

void advance(Call& call) {
  const OpenKey key = call.open(open_read | open_write);
  Value& value = key.get();
  if (!value.by_time()) refuse("this key has no window of time");
  value.advance(value.generation_begin(
      static_cast<std::int64_t>(call.whole(2, "the time", 0, std::uint64_t{1} << 61))));
  call.changed("weir.advance");
  call.ok();
}

void add(Call& call) {
  if (call.count() != 3 && call.count() != 5) throw WrongArity{};
  std::uint32_t weight = 1;
  if (call.count() == 5) {
    if (!call.is(3, "IMPORTANCE")) refuse("only IMPORTANCE weight can follow the item");
    weight = static_cast<std::uint32_t>(call.whole(4, "IMPORTANCE", 1, 0xffffffff));
  }
  const OpenKey key = call.open(open_read | open_write);
  Value& value = key.get();
  Filter& filter = value.filter();
  follow_clock(call, value);
  const Digest digest = filter.digest(call.text(2));
  Verdict verdict;
  if (value.window) {
    value.observe({&digest, 1}, {&weight, 1}, {&verdict, 1});
  } else {
    ++value.changes;
    verdict = filter.observe(digest, weight);
  }
  call.changed("weir.add");
  call.reply(verdict == Verdict::New ? 1 : 0);
}

// Digests of the arguments from the second on, and room for as many verdicts; they grow to the
// longest command that came.
struct Batch {
  std::vector<std::string_view> items;
  std::vector<Digest> digests;
  std::vector<Verdict> verdicts;
};

Batch& batch_of(const Call& call, const Structure& structure) {
  static thread_local Batch batch;
  const std::size_t n = call.count() - 2;
  batch.items.resize(n);
  batch.digests.resize(n);
  batch.verdicts.resize(n);
  for (std::size_t i = 0; i < n; ++i) batch.items[i] = call.text(i + 2);
  structure.digester()(batch.items, batch.digests);
  return batch;
}

void reply_verdicts(const Call& call, std::span<const Verdict> verdicts, Verdict counted) {
  api::ReplyWithArray(call.context, static_cast<long>(verdicts.size()));
  for (const Verdict verdict : verdicts) call.reply(verdict == counted ? 1 : 0);
}

void madd(Call& call) {
  const OpenKey key = call.open(open_read | open_write);
  Value& value = key.get();
  Filter& filter = value.filter();
  follow_clock(call, value);
  Batch& batch = batch_of(call, filter);
  value.observe(batch.digests, {}, batch.verdicts);
  call.changed("weir.madd");
  reply_verdicts(call, batch.verdicts, Verdict::New);
}

// As of now: what a window of time has left behind is not told, though the filter forgets it only
// when it is next written to. A replica goes by its own clock here, as it does for keys that
// expire.
void look(const Value& value, Batch& batch) {
  const Filter& filter = value.filter();
  const std::uint32_t passed =
      value.by_time() && value.window->started
          ? value.generations_until(value.generation_begin(now_microseconds()))
          : 0;
  if (passed == 0) return filter.contains(batch.digests, batch.verdicts);
  for (std::size_t i = 0; i < batch.digests.size(); ++i) {
    const bool held = value.window->kind != Window::Kind::Landmark &&
                      filter.contains_after(batch.digests[i], passed);
    batch.verdicts[i] = held ? Verdict::Seen : Verdict::New;
  }
}

void exists(Call& call) {
  const OpenKey key = call.open(open_read);
  const Value* const value = key.find();
  if (value == nullptr) return call.reply(0);
  Batch& batch = batch_of(call, value->filter());
  look(*value, batch);
  call.reply(batch.verdicts.front() == Verdict::Seen ? 1 : 0);
}

void mexists(Call& call) {
  const OpenKey key = call.open(open_read);
  const Value* const value = key.find();
  if (value == nullptr) {
    api::ReplyWithArray(call.context, static_cast<long>(call.count() - 2));
    for (std::size_t i = 2; i < call.count(); ++i) call.reply(0);
    return;
  }
  Batch& batch = batch_of(call, value->filter());
  look(*value, batch);
  reply_verdicts(call, batch.verdicts, Verdict::Seen);
}

void reset(Call& call) {
  const OpenKey key = call.open(open_read | open_write);
  key.get().reset();
  call.changed("weir.reset");
  call.ok();
}

// All that can be wrong is found before anything is changed.
void require_mergeable(const Structure& into, const Structure& from) {
  const auto differ = [&](const char* what) {
    refuse(std::string("these keys cannot be merged: ") + what);
  };
  if (&into.info() != &from.info()) differ("they hold different structures");
  if (into.parameters() != from.parameters() || into.shards() != from.shards())
    differ("their sizes or parameters differ");
  if (into.digester().kind() != from.digester().kind() ||
      into.digester().secret() != from.digester().secret())
    differ("they hash with different secrets; RESERVE both with the same SEED, or one as a COPY");
}

void merge(Call& call) {
  OpenKey into = call.open(open_read | open_write);
  Value* const there = into.find();
  std::vector<const Value*> sources;
  for (std::size_t i = 2; i < call.count(); ++i) {
    const OpenKey key = call.open(open_read, i);
    const Value& source = key.get();
    if (&source == there) refuse("a key cannot be merged into itself");
    sources.push_back(&source);
    if (source.window || (there != nullptr && there->window))
      refuse("keys with a window cannot be merged: each goes by its own stream");
    require_mergeable(there != nullptr ? there->only() : sources.front()->only(), source.only());
  }
  std::unique_ptr<Value> made;
  if (there == nullptr) made = std::make_unique<Value>(*sources.front());
  Value& dest = there != nullptr ? *there : *made;
  for (std::size_t i = there != nullptr ? 0 : 1; i < sources.size(); ++i)
    dest.only().merge(sources[i]->only());
  ++dest.changes;
  if (made) into.set(std::move(made));
  call.changed("weir.merge");
  call.ok();
}

constexpr Entry table[] = {
    {"WEIR.RESERVE", run<reserve>, Access::Create, "",
     "key [FILTER spec] MEMORY bytes# [FPR rate%] [WINDOW items#] [TTL seconds#] [KEYS expected#] "
     "[SEED hex] [HASH name]",
     "Makes a filter or a sketch that never takes more than its memory", "O(1)"},
    {"WEIR.ADD", run<add>, Access::Update, "fast", "key item [IMPORTANCE weight#]",
     "Adds an item; 1 when it is new, 0 when it was seen before", "O(1)"},
    {"WEIR.MADD", run<madd>, Access::Update, "", "key item...",
     "Adds items; for each 1 when it is new, 0 when it was seen before", "O(N) for N items"},
    {"WEIR.EXISTS", run<exists>, Access::Read, "fast", "key item",
     "Looks an item up; 1 when it was seen before", "O(1)"},
    {"WEIR.MEXISTS", run<mexists>, Access::Read, "", "key item...",
     "Looks items up; for each 1 when it was seen before", "O(N) for N items"},
    {"WEIR.RESET", run<reset>, Access::Update, "", "key",
     "Forgets everything; the secret and the window's length stay", "O(M) for M bytes"},
    {"WEIR.MERGE", run<merge>, Access::Merge, "", "key source...",
     "Takes the content of other keys in", "O(N M) for N keys of M bytes"},
    {"WEIR.MAKE", run<make>, Access::Create, "no-monitor no-slowlog",
     "key spec shards# hash# secret seed# kind# clock# length# step#",
     "Internal: WEIR.RESERVE as replicas get it", "O(1)"},
    {"WEIR.ADVANCE", run<advance>, Access::Update, "", "key microseconds#",
     "Internal: moves a window of time, as replicas are told", "O(1)"},
};

}  // namespace

std::span<const Entry> filter_commands() { return table; }

void replicate_made(const Call& call, const Value& value) {
  const Structure& structure = *value.structures.front();
  const std::string spec = std::string(structure.info().name) + ":" + structure.parameters();
  const auto& secret = structure.digester().secret();
  const std::string seed = std::to_string(structure.seed());
  const Window window = value.window.value_or(Window{});
  api::Replicate(call.context, "WEIR.MAKE", "sbllbbllll", call.raw(1), spec.data(), spec.size(),
                 static_cast<long long>(structure.shards()),
                 static_cast<long long>(structure.digester().kind()),
                 reinterpret_cast<const char*>(secret.data()), secret.size(), seed.data(),
                 seed.size(), static_cast<long long>(window.kind),
                 static_cast<long long>(window.clock), static_cast<long long>(window.length),
                 static_cast<long long>(window.step));
  if (!value.notes.empty())
    api::Replicate(call.context, "WEIR.NOTES", "sb", call.raw(1),
                   reinterpret_cast<const char*>(value.notes.data()),
                   value.notes.size() * sizeof value.notes[0]);
}

}  // namespace weir::redis
