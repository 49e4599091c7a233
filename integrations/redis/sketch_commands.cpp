// How often did an item come? And which came most often?
#include "commands.hpp"
#include "weir/top.hpp"

namespace weir::redis {
namespace {

// One item; a negative number takes occurrences back. Throws where the sketch cannot.
std::uint64_t count_one(Sketch& sketch, Top* top, std::string_view item, long long by) {
  const Digest digest = sketch.digest(item);
  if (by < 0) {
    sketch.remove(digest, -static_cast<std::uint64_t>(by));
    return sketch.estimate(digest);
  }
  if (by == 0) return sketch.estimate(digest);
  const std::uint64_t estimate = sketch.add(digest, static_cast<std::uint64_t>(by));
  if (top != nullptr) top->name({&digest, 1}, {&item, 1});
  return estimate;
}

// Numbers are read before anything is counted. Where one item cannot be taken back, its place in
// the reply says why; the others count. On a replica the same happens.
void incrby(Call& call) {
  if (call.count() % 2 != 0) throw WrongArity{};
  const OpenKey key = call.open(open_read | open_write);
  Value& value = key.get();
  Sketch& sketch = value.sketch();
  for (std::size_t i = 3; i < call.count(); i += 2)
    static_cast<void>(call.number(i, "the increment"));
  Top* const top = as_top(sketch);
  ++value.changes;
  api::ReplyWithArray(call.context, static_cast<long>(call.count() / 2 - 1));
  for (std::size_t i = 2; i < call.count(); i += 2) {
    try {
      call.reply(static_cast<long long>(
          count_one(sketch, top, call.text(i), call.number(i + 1, "the increment"))));
    } catch (const Error& error) {
      api::ReplyWithError(call.context, ("ERR " + std::string(error.what())).c_str());
    }
  }
  call.changed("weir.incrby");
}

void count(Call& call) {
  const OpenKey key = call.open(open_read);
  const Value* const value = key.find();
  const Sketch* const sketch = value == nullptr ? nullptr : &value->sketch();
  api::ReplyWithArray(call.context, static_cast<long>(call.count() - 2));
  for (std::size_t i = 2; i < call.count(); ++i)
    call.reply(sketch == nullptr
                   ? 0
                   : static_cast<long long>(sketch->estimate(sketch->digest(call.text(i)))));
}

// [item, at least, at most], the most frequent first. Of an item longer than what is kept of it the
// beginning is told.
void top(Call& call) {
  if (call.count() > 3) throw WrongArity{};
  const std::uint64_t most =
      call.count() == 3 ? call.whole(2, "the number of items", 0, 1u << 30) : 10;
  const OpenKey key = call.open(open_read);
  Top* const held = as_top(key.get().only());
  if (held == nullptr)
    throw Error(ErrorCode::Config, std::string(key.get().only().info().name) +
                                       " does not hold items; RESERVE with FILTER space-saving");
  std::vector<Top::Entry> entries = held->entries();
  if (entries.size() > most) entries.resize(most);
  api::ReplyWithArray(call.context, static_cast<long>(entries.size()));
  for (const Top::Entry& entry : entries) {
    api::ReplyWithArray(call.context, 3);
    if (entry.named)
      call.reply(entry.text);
    else
      api::ReplyWithNull(call.context);
    call.reply(static_cast<long long>(entry.least));
    call.reply(static_cast<long long>(entry.most));
  }
}

constexpr Entry table[] = {
    {"WEIR.INCRBY", run<incrby>, Access::Update, "", "key item increment# [more...]",
     "Counts occurrences; for each item the estimate that includes them", "O(N) for N items"},
    {"WEIR.COUNT", run<count>, Access::Read, "", "key item...", "Estimates how often items came",
     "O(N) for N items"},
    {"WEIR.TOP", run<top>, Access::Read, "", "key [count#]",
     "The items that came most often, each with its least and most count (FILTER space-saving)",
     "O(N log N) for N items held"},
};

}  // namespace

std::span<const Entry> sketch_commands() { return table; }

}  // namespace weir::redis
