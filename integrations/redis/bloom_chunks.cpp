// The way of a chain out and in: BF.SCANDUMP and BF.LOADCHUNK, used as clients of RedisBloom do.
//
//   BF.SCANDUMP key 0 -> [c1, bytes]; BF.SCANDUMP key c1 -> [c2, bytes]; ... -> [0, ""]
//   BF.LOADCHUNK other c1 bytes; BF.LOADCHUNK other c2 bytes; ... each with its own cursor
// A cursor is the number of bytes up to the end of the chunk, plus one. The bytes, little-endian:
//   8  "WEIR-BF1"
//   48 the notes of chain.hpp, with the number of filters
//   then each filter's state file (src/checkpoint/); a chunk holds bytes of one filter only
// They are not RedisBloom's: its filters hash otherwise, so that nothing in them could be looked
// up.
//
// A chain is whole and valid before it answers. An unfinished load is saved and replicated, and
// goes on after a restart; what fails ends it, and the key goes.
#include <algorithm>
#include <bit>
#include <cstring>

#include "chain.hpp"
#include "commands.hpp"

namespace weir::redis {
namespace {

constexpr std::string_view magic = "WEIR-BF1";
constexpr std::size_t head_bytes = magic.size() + 8 * chain_notes;
static_assert(std::endian::native == std::endian::little);

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

class Gather final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override {
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string all;
};

std::string head_of(const Chain& chain) {
  const std::vector<std::uint64_t> notes = chain.head();
  std::string head(magic);
  return head.append(reinterpret_cast<const char*>(notes.data()), 8 * notes.size());
}

// The moment of saving is left out: equal chains have equal bytes.
StateWriter writer_of(const Value& value, std::size_t part) {
  return StateWriter(*value.structures[part], nullptr, 0);
}

// The place of a byte behind the head; part is the number of filters at the end.
struct Place {
  std::size_t part = 0;
  std::uint64_t offset = 0;
};
Place place_of(const Value& value, std::uint64_t at) {
  Place place{0, at - head_bytes};
  for (; place.part < value.structures.size(); ++place.part) {
    const std::uint64_t bytes = writer_of(value, place.part).size();
    if (place.offset < bytes) break;
    place.offset -= bytes;
  }
  return place;
}

// So that the chunk begins there.
void move_to(Value& value, const Place& place) {
  auto& dump = value.dump;
  if (dump && dump->changes == value.changes && dump->part == place.part &&
      dump->at == place.offset)
    return;
  dump.emplace(Value::Dump{writer_of(value, place.part), 0, value.changes, 0, place.part});
  Gather skipped;
  while (dump->at < place.offset && !dump->writer.done()) {
    skipped.all.clear();
    dump->writer.write_piece(skipped);
    dump->at += skipped.all.size();
  }
  if (dump->at != place.offset) refuse("this is not a cursor that BF.SCANDUMP gave");
}

void scandump(Call& call) {
  const OpenKey key = call.open(open_read);
  Value* const value = key.find();
  if (value == nullptr) throw KnownError("ERR not found");
  if (!Chain::is(*value)) wrong_type();
  const Chain chain(*value);
  if (Chain::missing(*value) != 0)
    refuse("a BF.LOADCHUNK into this key has begun and is not finished");
  long long cursor;
  if (api::StringToLongLong(call.raw(2), &cursor) != ok)
    throw KnownError("Second argument must be numeric");
  if (cursor < 0 || (cursor > 0 && cursor <= static_cast<long long>(head_bytes) + 1))
    refuse("this is not a cursor that BF.SCANDUMP gave");
  if (cursor != 0 && (!value->dump || value->dump->changes != value->changes))
    refuse(
        "the key has changed since this dump began; begin again at 0, or COPY the key and dump "
        "the copy");
  std::uint64_t at = cursor == 0 ? head_bytes : static_cast<std::uint64_t>(cursor) - 1;
  const Place place = place_of(*value, at);
  Gather chunk;
  if (place.part == value->structures.size()) {
    if (place.offset != 0) refuse("this is not a cursor that BF.SCANDUMP gave");
    value->dump.reset();
    at = 0;
  } else {
    move_to(*value, place);
    if (cursor == 0) chunk.all = head_of(chain);
    Value::Dump& dump = *value->dump;
    const std::size_t before = chunk.all.size();
    while (!dump.writer.done() && chunk.all.size() < Chunks::most * 3 / 4)
      dump.writer.write_piece(chunk);
    dump.at += chunk.all.size() - before;
    at += chunk.all.size() - before + 1;
  }
  api::ReplyWithArray(call.context, 2);
  call.reply(static_cast<long long>(at));
  call.reply(chunk.all);
}

std::unique_ptr<Value> expected_by(std::string_view bytes) {
  if (!bytes.starts_with(magic) || bytes.size() <= head_bytes)
    refuse(
        "received bad data: these are not bytes that Weir's BF.SCANDUMP gave. Those of RedisBloom "
        "cannot be taken over, because it hashes otherwise: add the items anew, and let both "
        "answer "
        "until then");
  std::vector<std::uint64_t> head(chain_notes);
  std::memcpy(head.data(), bytes.data() + magic.size(), 8 * chain_notes);
  try {
    return Chain::expect(std::move(head));
  } catch (const Error& error) {
    refuse("received bad data: " + std::string(error.what()));
  }
}

// Bytes that an unfinished load has taken.
std::uint64_t taken_by(const Value& value) {
  std::uint64_t sum = head_bytes;
  for (std::size_t i = 0; i < value.structures.size(); ++i) sum += writer_of(value, i).size();
  const bool within = value.loading && value.loading->part == value.structures.size();
  return sum + (within ? value.loading->reader.taken() : 0);
}

void take(Context* context, Value& value, std::string_view bytes) {
  const std::size_t part = value.structures.size();
  if (!value.loading || value.loading->part != part) {
    const std::uint64_t allowed = allowed_bytes(context), beside = value.memory();
    value.loading.emplace(
        Value::Loading{part, StateReader(beside < allowed ? allowed - beside : 0)});
  }
  StateReader& reader = value.loading->reader;
  reader.take(std::as_bytes(std::span(bytes.data(), bytes.size())));
  if (!reader.done()) return;
  StateReader whole = std::move(reader);
  value.loading.reset();
  Chain(value).adopt(std::move(whole));
}

void loadchunk(Call& call) {
  long long cursor;
  if (api::StringToLongLong(call.raw(2), &cursor) != ok)
    throw KnownError("ERR Second argument must be numeric");
  std::string_view bytes = call.text(3);
  OpenKey key = call.open(open_read | open_write);
  Value* value = key.find();
  if (value != nullptr && !Chain::is(*value)) wrong_type();
  if (value != nullptr && Chain::missing(*value) == 0) throw KnownError("ERR item exists");
  const std::uint64_t end = cursor > 0 ? static_cast<std::uint64_t>(cursor) - 1 : 0;
  // RedisBloom's head comes with cursor 1.
  if (cursor == 1 || end == bytes.size()) {
    auto made = expected_by(bytes);
    if (end != bytes.size()) refuse("received bad data: the cursor is not that of these bytes");
    value = made.get();
    key.set(std::move(made));
    bytes.remove_prefix(head_bytes);
  } else if (value == nullptr) {
    throw KnownError("ERR not found");
  } else if (bytes.empty() || end < bytes.size() || end - bytes.size() != taken_by(*value)) {
    refuse("received bad data: the next chunk of this load begins behind byte " +
           std::to_string(taken_by(*value)));
  }
  try {
    take(call.context, *value, bytes);
  } catch (const std::exception& error) {
    key.remove();
    api::ReplicateVerbatim(call.context);
    refuse("received bad data: " + std::string(error.what()));
  }
  call.changed("bf.loadchunk");
  call.ok();
}

constexpr Entry table[] = {
    {"BF.SCANDUMP", run<scandump>, Access::Read, "", "key cursor#",
     "A chunk of the chain, for BF.LOADCHUNK; it holds the key's secret", "O(1) a chunk of 1 MiB"},
    {"BF.LOADCHUNK", run<loadchunk>, Access::Create, "", "key cursor# bytes",
     "Takes a chunk of a chain in; the last one makes it the key's value", "O(1) a chunk of 1 MiB"},
};

}  // namespace

std::span<const Entry> bloom_chunk_commands() { return table; }

}  // namespace weir::redis
