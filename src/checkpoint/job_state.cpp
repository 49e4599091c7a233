// The state of a job, version 2. Little-endian; a snapshot (snapshot.cpp) follows.
//
//   offset  bytes  what
//   0       8      magic "WEIRJOBS"
//   8       4      format version
//   12      4      J, bytes of the job's description
//   16      4      which of the inputs is being read
//   20      1      complete
//   21      1      the output's last record lacks its terminator
//   22      1      the same of the repeats' file
//   23      1      zero
//   24      8      bytes of the input that are done, after decompression
//   32      8      records of the input that are done
//   40      16     fingerprint of the input: how many bytes, their XXH3-64
//   56      16     bytes of the output, of the repeats' file
//   72      40     records, bytes, first, repeats, bad: so far, of all inputs
//   112     J      description
//   112+J   56     version 2 only: the window. Kind, clock, started (a byte each), 5 bytes of zero;
//                  length, step, where the clock stands, late, doubted and doubt, 8 bytes each
//   then    8      XXH3-64 of the bytes before
//
// Without a window version 1 is written.
#include "checkpoint/job_state.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace weir {
namespace {

constexpr char magic[8] = {'W', 'E', 'I', 'R', 'J', 'O', 'B', 'S'};
constexpr std::uint32_t newest_version = 2;
constexpr std::uint32_t max_description = 1 << 20;

struct Fixed {
  char magic[8];
  std::uint32_t version, description_bytes, input;
  std::uint8_t complete, output_open, repeats_open, zero;
  std::uint64_t offset, ordinal, fingerprint_bytes, fingerprint_hash;
  std::uint64_t output_bytes, repeats_bytes;
  std::uint64_t records, bytes, first, repeats, bad;
};
static_assert(sizeof(Fixed) == 112);

struct FixedWindow {
  std::uint8_t kind, clock, started, zeros[5];
  std::uint64_t length, step;
  std::int64_t now;
  std::uint64_t late, doubted, doubt;
};
static_assert(sizeof(FixedWindow) == 56);

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::BadState, why); }

std::string written(const Window& window) {
  FixedWindow f{};
  f.kind = static_cast<std::uint8_t>(window.kind);
  f.clock = static_cast<std::uint8_t>(window.clock);
  f.started = window.started;
  f.length = window.length, f.step = window.step, f.now = window.now;
  f.late = window.late, f.doubted = window.doubted, f.doubt = window.doubt;
  return {reinterpret_cast<const char*>(&f), sizeof f};
}

Window window_of(const char* bytes) {
  constexpr std::uint64_t most = std::uint64_t{1} << 61;  // sums and differences stay in 64 bits
  FixedWindow f;
  std::memcpy(&f, bytes, sizeof f);
  const auto size =
      f.now < 0 ? ~static_cast<std::uint64_t>(f.now) : static_cast<std::uint64_t>(f.now);
  for (const std::uint8_t zero : f.zeros)
    if (zero != 0) f.started = 2;
  if (f.kind > 2 || f.clock > 2 || f.started > 1 || f.length == 0 || f.step == 0 ||
      f.step > f.length || f.length > most || size > most || (f.clock == 0 && f.now < 0))
    refuse("the state is damaged: its window contradicts itself");
  return {static_cast<Window::Kind>(f.kind),
          static_cast<Window::Clock>(f.clock),
          f.length,
          f.step,
          f.started != 0,
          f.now,
          f.late,
          f.doubted,
          f.doubt};
}

std::uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::span<std::byte> writable(std::string& text, std::size_t from) {
  return std::as_writable_bytes(std::span(text)).subspan(from);
}

}  // namespace

void write_job_state(const JobState& job, ByteSink& sink) {
  if (job.job.size() > max_description)
    throw Error(ErrorCode::Config, "the names of the inputs are too long for a job's state");
  Fixed f{};
  std::memcpy(f.magic, magic, sizeof magic);
  f.version = job.window ? 2 : 1;
  f.description_bytes = static_cast<std::uint32_t>(job.job.size());
  f.input = job.input;
  f.complete = job.complete, f.output_open = job.output_open, f.repeats_open = job.repeats_open;
  f.offset = job.offset, f.ordinal = job.ordinal;
  f.fingerprint_bytes = job.fingerprint.bytes, f.fingerprint_hash = job.fingerprint.hash;
  f.output_bytes = job.output_bytes, f.repeats_bytes = job.repeats_bytes;
  f.records = job.records, f.bytes = job.bytes, f.first = job.first, f.repeats = job.repeats;
  f.bad = job.bad;
  std::string all(reinterpret_cast<const char*>(&f), sizeof f);
  all += job.job;
  if (job.window) all += written(*job.window);
  const std::uint64_t sum = checksum(all);
  all.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  sink.write(std::as_bytes(std::span(all)));
}

std::uint64_t job_state_bytes(std::span<const std::byte, job_state_begin> begin) {
  if (std::memcmp(begin.data(), magic, sizeof magic) != 0) return 0;  // a bare snapshot
  std::uint32_t version, description_bytes;
  std::memcpy(&version, begin.data() + 8, 4);
  std::memcpy(&description_bytes, begin.data() + 12, 4);
  if (version == 0 || version > newest_version)
    refuse("this state of a job has format version " + std::to_string(version) +
           "; this weir reads versions 1 to " + std::to_string(newest_version));
  if (description_bytes > max_description)
    refuse("the state is damaged: the sizes in its header contradict each other");
  return sizeof(Fixed) + description_bytes + (version < 2 ? 0 : sizeof(FixedWindow)) + 8;
}

BehindJobState::BehindJobState(ByteSource& all) : all_(all), size_(all.size()) {
  held_.resize(std::min<std::uint64_t>(sizeof magic, size_));
  all_.read(writable(held_, 0));
  if (held_ != std::string_view(magic, sizeof magic)) return;  // a bare snapshot

  const auto whole = [&](std::uint64_t bytes) {
    if (bytes > all.size()) refuse("the state is damaged: it ends early");
  };
  whole(sizeof(Fixed));
  held_.resize(sizeof(Fixed));
  all_.read(writable(held_, sizeof magic));
  Fixed f;
  std::memcpy(&f, held_.data(), sizeof f);
  const std::uint64_t head =
      job_state_bytes(std::as_bytes(std::span(held_)).first<job_state_begin>());
  whole(head);
  held_.resize(head);
  all_.read(writable(held_, sizeof f));
  std::uint64_t sum;
  std::memcpy(&sum, held_.data() + head - 8, 8);
  if (sum != checksum(std::string_view(held_).substr(0, head - 8)))
    refuse("the state is damaged: the position of its job does not match its checksum");
  if (f.complete > 1 || f.output_open > 1 || f.repeats_open > 1 || f.zero != 0 ||
      f.fingerprint_bytes > Fingerprint::most_bytes || f.first > f.records ||
      f.repeats > f.records || f.bad > f.records)
    refuse("the state is damaged: the position of its job contradicts itself");
  JobState job;
  job.job = held_.substr(sizeof f, f.description_bytes);
  job.complete = f.complete != 0;
  job.input = f.input;
  job.offset = f.offset, job.ordinal = f.ordinal;
  job.fingerprint = {f.fingerprint_bytes, f.fingerprint_hash};
  job.output_bytes = f.output_bytes, job.repeats_bytes = f.repeats_bytes;
  job.output_open = f.output_open != 0, job.repeats_open = f.repeats_open != 0;
  job.records = f.records, job.bytes = f.bytes, job.first = f.first, job.repeats = f.repeats;
  job.bad = f.bad;
  if (f.version >= 2) job.window = window_of(held_.data() + sizeof f + f.description_bytes);
  job_ = std::move(job);
  size_ -= head;
  held_.clear();
}

void BehindJobState::read(std::span<std::byte> bytes) {
  const std::size_t held = std::min(held_.size(), bytes.size());
  std::memcpy(bytes.data(), held_.data(), held);
  held_.erase(0, held);
  if (bytes.size() > held) all_.read(bytes.subspan(held));
}

}  // namespace weir
