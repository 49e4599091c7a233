// How values are saved, loaded, rewritten, copied, compared, measured and freed.
//
// In an RDB file or a DUMP payload, encoding 1:
//   unsigned   number of structures
//   unsigned   number of notes, and the notes
//   for each structure: its state file, the window's in front of the first (src/checkpoint/)
//   unsigned   1 when a WEIR.LOAD is under way, else 0; then which part it is, and the bytes so far
// where bytes are an unsigned, how many, and strings of at most 1 MiB.
//
// Loading believes nothing: sizes are bounded before they are used, and the bytes pass the one
// loader of state files. A payload that is not valid is refused; the server lives.
//
// There is no `defrag`: blocks from 16 KiB on are pages of their own in the server's allocator and
// leave no holes; smaller ones stay where they are.
#include "type.hpp"

#include <algorithm>

#include "chain.hpp"

namespace weir::redis {

Type* value_type = nullptr;
long long max_bytes_per_key = 1LL << 30;

std::uint64_t allowed_bytes(Context* context) {
  constexpr int replica = 1 << 3;
  const bool obeys = (api::GetContextFlags(context) & (flag_loading | replica)) != 0;
  return obeys ? ~std::uint64_t{0} : static_cast<std::uint64_t>(max_bytes_per_key);
}

void Chunks::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t n = std::min(bytes.size(), most - held_.size());
    held_.append(reinterpret_cast<const char*>(bytes.data()), n);
    bytes = bytes.subspan(n);
    if (held_.size() == most) flush();
  }
}
void Chunks::flush() {
  if (!held_.empty()) use_(held_);
  held_.clear();
}

namespace {

[[noreturn]] void refuse(const char* why) { throw Error(ErrorCode::BadState, why); }

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The state of structure number `part`, in chunks. The moment of saving is left out, so that equal
// values have equal bytes.
void write_state(const Value& value, std::size_t part, ByteSink& sink) {
  const auto job = part == 0 ? value.job() : std::nullopt;
  StateWriter writer(*value.structures[part], job ? &*job : nullptr, 0);
  while (!writer.done()) writer.write_piece(sink);
}
std::uint64_t state_bytes(const Value& value, std::size_t part) {
  const auto job = part == 0 ? value.job() : std::nullopt;
  return StateWriter(*value.structures[part], job ? &*job : nullptr, 0).size();
}

std::uint64_t load_number(Io* io, std::uint64_t most) {
  const std::uint64_t number = api::LoadUnsigned(io);
  if (api::IsIOError(io) != 0) refuse("the payload ends early");
  if (number > most) refuse("the payload holds a number that is too large");
  return number;
}

StateReader load_state(Io* io, std::uint64_t allowed) {
  StateReader reader(allowed);
  const std::uint64_t bytes = load_number(io, ~std::uint64_t{0});
  while (reader.taken() < bytes) {
    std::size_t n = 0;
    char* const chunk = api::LoadStringBuffer(io, &n);
    if (chunk == nullptr || api::IsIOError(io) != 0) refuse("the payload ends early");
    try {
      if (n == 0 || n > bytes - reader.taken()) refuse("the payload's chunks do not add up");
      reader.take(bytes_of({chunk, n}));
    } catch (...) {
      api::Free(chunk);
      throw;
    }
    api::Free(chunk);
  }
  return reader;
}

std::unique_ptr<Value> load_value(Io* io) {
  const std::uint64_t allowed = allowed_bytes(nullptr);
  auto value = std::make_unique<Value>();
  const std::uint64_t parts = load_number(io, Value::most_structures);
  std::vector<std::uint64_t> notes(load_number(io, Value::most_notes));
  for (std::uint64_t& note : notes) note = load_number(io, ~std::uint64_t{0});
  std::uint64_t left = allowed;
  for (std::size_t part = 0; part < parts; ++part) {
    StateReader reader = load_state(io, left);
    if (!reader.done()) refuse("the payload's state is not whole");
    left -= reader.memory();
    value->adopt(part, std::move(reader));
  }
  set_notes(*value, std::move(notes));
  if (load_number(io, 1) == 1) {
    const auto part = static_cast<std::size_t>(load_number(io, parts));
    value->loading.emplace(Value::Loading{part, load_state(io, allowed)});
    if (value->loading->reader.done()) refuse("the payload's unfinished state is whole");
  } else if (parts == 0) {
    refuse("the payload holds nothing");
  }
  return value;
}

void* rdb_load(Io* io, int encoding) {
  try {
    if (encoding != type_encoding) refuse("the payload has an encoding of a newer weir");
    return load_value(io).release();
  } catch (const std::exception& error) {
    api::LogIOError(io, "warning", "weir: %s", error.what());
    return nullptr;
  }
}

void save_state(Io* io, std::uint64_t bytes, const std::function<void(ByteSink&)>& write) {
  api::SaveUnsigned(io, bytes);
  Chunks chunks([io](std::string_view c) { api::SaveStringBuffer(io, c.data(), c.size()); });
  write(chunks);
  chunks.flush();
}

void rdb_save(Io* io, void* pointer) {
  const Value& value = *static_cast<const Value*>(pointer);
  api::SaveUnsigned(io, value.structures.size());
  api::SaveUnsigned(io, value.notes.size());
  for (const std::uint64_t note : value.notes) api::SaveUnsigned(io, note);
  for (std::size_t part = 0; part < value.structures.size(); ++part)
    save_state(io, state_bytes(value, part),
               [&](ByteSink& sink) { write_state(value, part, sink); });
  api::SaveUnsigned(io, value.loading ? 1 : 0);
  if (!value.loading) return;
  api::SaveUnsigned(io, value.loading->part);
  save_state(io, value.loading->reader.taken(),
             [&](ByteSink& sink) { value.loading->reader.write_taken(sink); });
}

// As commands: the parts in order, what an unfinished load has brought, and the notes on all that.
void aof_rewrite(Io* io, String* key, void* pointer) {
  const Value& value = *static_cast<const Value*>(pointer);
  const auto emit = [&](std::size_t part, const std::function<void(ByteSink&)>& write) {
    long long at = 0;
    Chunks chunks([&](std::string_view c) {
      api::EmitAOF(io, "WEIR.LOAD", "slbcl", key, at, c.data(), c.size(), "PART",
                   static_cast<long long>(part));
      at += static_cast<long long>(c.size());
    });
    write(chunks);
    chunks.flush();
  };
  for (std::size_t part = 0; part < value.structures.size(); ++part)
    emit(part, [&](ByteSink& sink) { write_state(value, part, sink); });
  if (value.loading)
    emit(value.loading->part, [&](ByteSink& sink) { value.loading->reader.write_taken(sink); });
  if (!value.notes.empty())
    api::EmitAOF(io, "WEIR.NOTES", "sb", key, reinterpret_cast<const char*>(value.notes.data()),
                 value.notes.size() * sizeof value.notes[0]);
}

void digest(DigestIo* io, void* pointer) {
  const Value& value = *static_cast<const Value*>(pointer);
  Chunks chunks([io](std::string_view c) { api::DigestAddStringBuffer(io, c.data(), c.size()); });
  for (std::size_t part = 0; part < value.structures.size(); ++part)
    write_state(value, part, chunks);
  chunks.write(std::as_bytes(std::span(value.notes)));
  if (value.loading) value.loading->reader.write_taken(chunks);
  chunks.flush();
  api::DigestEndSequence(io);
}

std::size_t mem_usage(const void* pointer) { return static_cast<const Value*>(pointer)->memory(); }

void free_value(void* pointer) { delete static_cast<Value*>(pointer); }

// Above 64 the server frees in another thread when it may (UNLINK, lazyfree): pages go back one by
// one.
std::size_t free_effort(String*, const void* pointer) {
  return static_cast<const Value*>(pointer)->memory() / 4096 + 1;
}

void* copy_value(String*, String*, const void* pointer) {
  try {
    const auto& value = *static_cast<const Value*>(pointer);
    // An unfinished WEIR.LOAD is left out; a chain that is not whole cannot be.
    const bool whole = !Chain::is(value) || Chain::missing(value) == 0;
    return value.structures.empty() || !whole ? nullptr : new Value(value);
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace

bool create_type(Context* context) {
  TypeMethods methods;
  methods.rdb_load = rdb_load;
  methods.rdb_save = rdb_save;
  methods.aof_rewrite = aof_rewrite;
  methods.mem_usage = mem_usage;
  methods.digest = digest;
  methods.free = free_value;
  methods.free_effort = free_effort;
  methods.copy = copy_value;
  value_type = api::CreateDataType(context, "weir-filt", type_encoding, &methods);
  return value_type != nullptr;
}

}  // namespace weir::redis
