#include "value.hpp"

#include <atomic>
#include <bit>
#include <cstring>

#include "api.hpp"
#include "core/window_clock.hpp"
#include "plan/window_making.hpp"
#include "weir/memory.hpp"
#include "weir/top.hpp"

namespace weir::redis {
namespace {

// Values are freed in another thread, too.
std::atomic<std::uint64_t> values_there{0}, bytes_there{0};

constexpr std::uint64_t line = 64;

// The server gives 16 bytes of alignment. The block begins at the next line, and in front of it
// stands where the memory begins.
void* allocate(std::uint64_t bytes) noexcept {
  void* raw;
  if (api::TryCalloc != nullptr) {
    raw = api::TryCalloc(1, bytes + line);
  } else {
    // Calloc ends the server when there is no memory; so ask first.
    void* const probe = api::TryAlloc != nullptr ? api::TryAlloc(bytes + line) : nullptr;
    if (api::TryAlloc != nullptr && probe == nullptr) return nullptr;
    if (probe != nullptr) api::Free(probe);
    raw = api::Calloc(1, bytes + line);
  }
  if (raw == nullptr) return nullptr;
  const auto begin = (reinterpret_cast<std::uintptr_t>(raw) + line) / line * line;
  std::memcpy(reinterpret_cast<void*>(begin - sizeof raw), &raw, sizeof raw);
  bytes_there += bytes;
  return reinterpret_cast<void*>(begin);
}

void release(void* block, std::uint64_t bytes) noexcept {
  void* raw;
  std::memcpy(&raw, static_cast<char*>(block) - sizeof raw, sizeof raw);
  bytes_there -= bytes;
  api::Free(raw);
}

// jemalloc has four sizes between one power of two and the next and counts what it rounds up to.
std::uint64_t largest(std::uint64_t budget) noexcept {
  if (budget < 8 * line) return 0;
  const std::uint64_t step = std::bit_floor(budget) / 4;
  return (budget / step * step - line) / line * line;
}

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

}  // namespace

void use_server_memory() { use_allocator({allocate, release, largest}); }

void* Value::operator new(std::size_t bytes) { return api::Calloc(1, bytes); }
void Value::operator delete(void* value) { api::Free(value); }

Value::Value() { ++values_there; }
Value::~Value() { --values_there; }
Value::Value(const Value& other) : window(other.window), notes(other.notes) {
  for (const StructurePtr& structure : other.structures) structures.push_back(copy_of(*structure));
  ++values_there;
}

Value::Totals Value::totals() { return {values_there, bytes_there}; }

std::uint64_t Value::memory() const {
  std::uint64_t sum = sizeof *this + structures.capacity() * sizeof(StructurePtr);
  for (const StructurePtr& structure : structures) sum += structure->memory() + line;
  if (loading) sum += loading->reader.memory() + line;
  return sum;
}

Structure& Value::only() const {
  if (structures.empty()) refuse("a WEIR.LOAD into this key has begun and is not finished");
  if (structures.size() > 1 || !notes.empty())
    refuse("this key holds a chain of filters; use the BF commands");
  return *structures.front();
}
Filter& Value::filter() const {
  Structure& structure = only();
  if (structure.info().kind != Kind::Filter)
    refuse(std::string("this key holds ") + structure.info().name + ", which is a " +
           kind_name(structure.info().kind) + "; use WEIR.INCRBY and WEIR.COUNT");
  return static_cast<Filter&>(structure);
}
Sketch& Value::sketch() const {
  Structure& structure = only();
  if (structure.info().kind != Kind::Sketch)
    refuse(std::string("this key holds ") + structure.info().name + ", which is a " +
           kind_name(structure.info().kind) + "; use WEIR.ADD and WEIR.EXISTS");
  return static_cast<Sketch&>(structure);
}

void Value::observe(std::span<const Digest> digests, std::span<const std::uint32_t> weights,
                    std::span<Verdict> out) {
  Filter& into = filter();
  ++changes;
  static thread_local std::vector<WindowClock::Cut> cuts;
  cuts.clear();
  if (window && window->clock == Window::Clock::Records) {
    WindowClock clock(*window);
    clock.count(digests.size(), cuts);
    window = clock.window();
  }
  observe_window(into, window ? window->kind : Window::Kind::Sliding, cuts, digests, weights, out);
}

std::int64_t Value::generation_begin(std::int64_t now) const {
  return now - now % static_cast<std::int64_t>(window->step);
}

std::uint32_t Value::generations_until(std::int64_t now) const {
  std::vector<WindowClock::Cut> cuts;
  WindowClock(*window).arrive(now, cuts);
  return cuts.empty() ? 0 : cuts.front().generations;
}

void Value::advance(std::int64_t now) {
  Filter& into = filter();
  ++changes;
  std::vector<WindowClock::Cut> cuts;
  WindowClock clock(*window);
  clock.arrive(now, cuts);
  window = clock.window();
  observe_window(into, window->kind, cuts, {}, {}, {});
}

void Value::reset() {
  Structure& structure = only();
  ++changes;
  if (structure.info().kind == Kind::Filter) {
    for (std::uint32_t i = 0; i < structure.shards(); ++i)
      static_cast<Filter&>(structure).clear_shard(i);
  } else {
    structures.front() = make_structure(
        std::string(structure.info().name) + ":" + structure.parameters(),
        {.shards = structure.shards(), .seed = structure.seed(), .digester = structure.digester()});
  }
  if (window) window->started = false, window->now = 0, window->late = 0;
}

std::optional<JobState> Value::job() const {
  if (!window) return std::nullopt;
  JobState job;
  job.complete = true;  // no job is left to do
  job.window = window;
  return job;
}

void Value::adopt(std::size_t part, StateReader&& whole) {
  std::optional<Window> its = whole.job() ? whole.job()->window : std::nullopt;
  StructurePtr structure = std::move(whole).structure();
  if (structure->info().kind == Kind::Sample)
    throw Error(ErrorCode::BadState, "this state holds a sample; the server has no use for it");
  if (its) {
    if (its->clock == Window::Clock::Event)
      throw Error(
          ErrorCode::BadState,
          "this state's window goes by the time of the records, which a server does not see");
    require_holds(*structure, *its);
  }
  if (part > structures.size() || (part > 0 && its))
    throw Error(ErrorCode::BadState, "the parts of this value do not come in order");
  ++changes;
  if (part == 0) {
    structures.clear();
    notes.clear();
    window = its;
  }
  structures.push_back(std::move(structure));
}

}  // namespace weir::redis
