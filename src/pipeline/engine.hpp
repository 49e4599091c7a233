// source -> key -> hash -> filter -> sink, by any number of threads.
//
// A chunk is read (1), gets its digests (2), its verdicts (3), its output prepared (4) and
// written (5). One thread at a time is at the source and lays filled chunks into a queue; when
// enough lie there it works on one itself, so that with one thread this is the plain loop, and an
// input that is slow to decompress keeps one thread at it all the time. (3) and (5) pass in the
// order of the chunks; (2) and (4) are free.
//
// Whoever is at the source also does what needs everything else to rest: saving, looking at the
// live FPR, ending the run. It waits until all chunks that are out have been written; then
// structure, output and input position belong together.
//
//   engine.cpp            the threads: what each does, in which order, and how a failure ends all
//   engine_at_source.cpp  whoever is at the source: reading, saving, looking at the FPR, stopping
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <vector>

#include "key/keys.hpp"
#include "pipeline/job.hpp"
#include "pipeline/judge.hpp"
#include "sink/emitter.hpp"
#include "source/source.hpp"
#include "weir/error.hpp"

namespace weir {

// Ends another thread's wait for input.
class Wake {
 public:
  Wake() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0)
      throw Error(ErrorCode::Io,
                  std::string("cannot make an event: ") + std::generic_category().message(errno));
  }
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;
  ~Wake() { ::close(fd_); }
  [[nodiscard]] int fd() const { return fd_; }
  void up() noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof one);
  }

 private:
  int fd_;
};

constexpr std::uint64_t long_chunk = 16 << 20;  // worth having only once in memory

class Engine {
 public:
  Engine(Structure& structure, const DedupOptions& options)
      : structure_(structure),
        options_(options),
        keys_(options, structure.digester()),
        judge_(structure, options, keys_),
        source_(options, [this](std::string_view row) { keys_.read_header(row); }) {}

  DedupStats run();

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  static std::uint64_t next_look(std::uint64_t records, std::uint64_t memory);

  struct Desk {  // what a thread works with
    Keys::Scratch keys;
    Judge::Scratch judge;
    Emitter::Prepared prepared;
  };
  using ChunkPtr = std::unique_ptr<Chunk>;
  void populate(unsigned thread) const noexcept;
  void work(unsigned thread) noexcept;
  void work(Desk& desk);
  void process(Chunk& chunk, Desk& desk);
  void process_or_fail(Chunk& chunk, Desk& desk);
  void fail(std::exception_ptr error) noexcept;

  // At the source, by one thread at a time.
  bool read(Chunk& chunk, Desk& desk);
  bool next_chunk(Chunk& chunk, Desk& desk);
  bool issue(Chunk& chunk);
  void attend(Desk& desk);
  void rest(Desk& desk);
  void look_at_fpr();
  void save_state(bool complete);
  void open_emitter();
  [[nodiscard]] bool save_is_due() const;
  [[nodiscard]] bool asked_to_stop() const;
  [[nodiscard]] Waiting waiting() const;

  Structure& structure_;
  const DedupOptions& options_;
  Keys keys_;
  Judge judge_;
  Wake wake_;
  Clock::time_point start_ = Clock::now();
  std::int64_t start_time_ = 0;  // of the window's clock, if it goes by arrival

  std::mutex mutex_;  // of the queue
  std::condition_variable changed_;
  std::deque<ChunkPtr> ready_;  // filled, in order
  std::vector<ChunkPtr> spare_;
  bool reading_ = false;       // somebody is at the source
  bool nothing_more_ = false;  // will come from there

  // Of whoever is at the source.
  Source source_;
  std::optional<Emitter> emitter_;  // opened with the first chunk: no file is emptied in vain
  bool done_ = false, warned_ = false, ended_ = false;
  std::uint64_t issued_ = 0;          // chunks
  std::uint64_t issued_records_ = 0;  // of the job, those before a resume included
  std::uint64_t next_look_ = 0, next_save_ = 0;
  std::uint64_t saved_at_record_ = 0;
  Clock::time_point saved_ = start_, told_ = start_;
  bool long_one_out_ = false;
  std::uint64_t input_total_ = 0;
  std::uint32_t fingerprint_input_ = ~std::uint32_t{0};
  Fingerprint fingerprint_;

  Turn written_;
  std::mutex stats_mutex_;
  DedupStats stats_;
  std::exception_ptr error_;  // the first one; under stats_mutex_
};

}  // namespace weir
