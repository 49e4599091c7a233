// A state file in pieces: the state of a job, if there is one, and the snapshot behind it.
#include <algorithm>
#include <cstring>

#include "checkpoint/job_state.hpp"
#include "checkpoint/snapshot_pieces.hpp"

namespace weir {
namespace {

class StringSink final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override {
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string all;
};

// Passes on so many bytes and no more.
class CutSink final : public ByteSink {
 public:
  CutSink(ByteSink& sink, std::uint64_t bytes) : sink_(sink), left_(bytes) {}
  void write(std::span<const std::byte> bytes) override {
    bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), left_));
    left_ -= bytes.size();
    if (!bytes.empty()) sink_.write(bytes);
  }
  [[nodiscard]] bool full() const { return left_ == 0; }

 private:
  ByteSink& sink_;
  std::uint64_t left_;
};

}  // namespace

struct StateWriter::Inner {
  std::string head;
  bool head_written;
  std::uint64_t size;
  SnapshotWriter snapshot;
};

StateWriter::StateWriter(const Structure& structure, const JobState* job,
                         std::optional<std::int64_t> saved_at) {
  StringSink head;
  if (job != nullptr) write_job_state(*job, head);
  SnapshotWriter snapshot(structure, saved_at);
  const std::uint64_t size = head.all.size() + snapshot.size();
  inner_ = std::make_unique<Inner>(Inner{std::move(head.all), false, size, std::move(snapshot)});
}
StateWriter::StateWriter(StateWriter&&) noexcept = default;
StateWriter& StateWriter::operator=(StateWriter&&) noexcept = default;
StateWriter::~StateWriter() = default;

std::uint64_t StateWriter::size() const noexcept { return inner_->size; }
bool StateWriter::done() const noexcept { return inner_->snapshot.done(); }

void StateWriter::write_piece(ByteSink& sink) {
  if (!inner_->head_written) sink.write(std::as_bytes(std::span(inner_->head)));
  inner_->head_written = true;
  inner_->snapshot.write_piece(sink);
}

struct StateReader::Inner {
  explicit Inner(std::uint64_t most_memory) : snapshot({}, most_memory) {}

  // Takes of `bytes` what the job's state still lacks; true when it is whole, or there is none.
  bool take_head(std::span<const std::byte>& bytes) {
    while (!head_known || head.size() < head_bytes) {
      const std::size_t wanted = head_known ? head_bytes : job_state_begin;
      const std::size_t n = std::min(bytes.size(), wanted - head.size());
      head.append(reinterpret_cast<const char*>(bytes.data()), n);
      bytes = bytes.subspan(n);
      if (head.size() < wanted) return false;
      const auto held = std::as_bytes(std::span(head));
      if (!head_known) head_bytes = job_state_bytes(held.first<job_state_begin>());
      head_known = true;
      if (head_bytes == 0) {  // what was held back belongs to the snapshot
        push(held);
        return true;
      }
    }
    if (!job && head_bytes != 0) {
      SpanSource source(std::as_bytes(std::span(head)));
      job = BehindJobState(source).job();
      head.clear();
      head_bytes = 0;
    }
    return true;
  }

  // Bytes of `head` that are nowhere else.
  [[nodiscard]] std::size_t held() const { return head_known && head_bytes == 0 ? 0 : head.size(); }

  void push(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto room = snapshot.room();
      if (room.empty())
        throw Error(ErrorCode::BadState, "the state is damaged: bytes follow behind its end");
      const std::size_t n = std::min(bytes.size(), room.size() - in_room);
      std::memcpy(room.data() + in_room, bytes.data(), n);
      bytes = bytes.subspan(n);
      in_room += n;
      if (in_room < room.size()) return;
      in_room = 0;
      snapshot.filled();
    }
  }

  std::string head;
  bool head_known = false;
  std::uint64_t head_bytes = 0;
  std::optional<JobState> job;
  SnapshotReader snapshot;
  std::size_t in_room = 0;  // bytes of it that are filled
  std::uint64_t taken = 0;
};

StateReader::StateReader(std::uint64_t most_memory)
    : inner_(std::make_unique<Inner>(most_memory)) {}
StateReader::StateReader(StateReader&&) noexcept = default;
StateReader& StateReader::operator=(StateReader&&) noexcept = default;
StateReader::~StateReader() = default;

void StateReader::take(std::span<const std::byte> bytes) {
  inner_->taken += bytes.size();
  if (inner_->take_head(bytes)) inner_->push(bytes);
}
bool StateReader::done() const noexcept { return inner_->snapshot.done(); }
std::uint64_t StateReader::taken() const noexcept { return inner_->taken; }
std::uint64_t StateReader::memory() const noexcept {
  const Structure* const made = inner_->snapshot.peek();
  return made == nullptr ? 0 : made->memory();
}

// What went into the structure is read out of it again; what has not, is held.
void StateReader::write_taken(ByteSink& sink) const {
  CutSink cut(sink, inner_->taken - inner_->in_room);
  if (inner_->job)
    write_job_state(*inner_->job, cut);
  else
    cut.write(std::as_bytes(std::span(inner_->head)).first(inner_->held()));
  if (const Structure* const made = inner_->snapshot.peek()) {
    SnapshotWriter writer(*made, inner_->snapshot.info().saved_at);
    while (!writer.done() && !cut.full()) writer.write_piece(cut);
  } else {
    cut.write(inner_->snapshot.header());
  }
  if (inner_->in_room > 0) sink.write(inner_->snapshot.room().first(inner_->in_room));
}

const std::optional<JobState>& StateReader::job() const noexcept { return inner_->job; }
StructurePtr StateReader::structure() && { return std::move(inner_->snapshot).structure(); }

}  // namespace weir
