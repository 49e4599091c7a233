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
#include "weir/dedup.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/memory.hpp"
#include "key/keys.hpp"
#include "pipeline/job.hpp"
#include "pipeline/judge.hpp"
#include "sink/emitter.hpp"
#include "source/source.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr std::size_t most_records = 16384;     // a chunk
constexpr std::uint64_t long_chunk = 16 << 20;  // worth having only once in memory
constexpr double progress_seconds = 0.5;
constexpr unsigned most_ready = 8;  // chunks that lie in the queue: they are memory too

// The records at which the live FPR is looked at: each time the stream has grown by 2 %, but
// not so often that looking would cost more than the work. They depend on nothing else, so
// that a run ends at the same record for every number of threads.
std::uint64_t next_look(std::uint64_t records, std::uint64_t memory) {
  const std::uint64_t least = std::clamp<std::uint64_t>(memory / 64, 256, 8 << 20);
  std::uint64_t at = 0;
  while (at <= records)
    at = std::max(at + least, static_cast<std::uint64_t>(1.02 * static_cast<double>(at)));
  return at;
}

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

DedupStats Engine::run() {
  if (const auto& from = options_.position) {
    stats_.records = from->records, stats_.bytes = from->bytes;
    stats_.first = from->first, stats_.repeats = from->repeats, stats_.bad = from->bad;
    issued_records_ = from->records;
    source_.go_to(from->input, from->offset, from->ordinal);
  }
  // The hours between two runs count, but the clock of the machine may have been set back.
  if (const auto window = judge_.window(); window && window->clock == Window::Clock::Arrival) {
    start_time_ = std::chrono::duration_cast<std::chrono::microseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
    if (window->started) start_time_ = std::max(start_time_, window->now);
  }
  saved_at_record_ = issued_records_;
  input_total_ = total_size(options_.inputs);
  next_look_ = next_look(issued_records_, structure_.memory());
  if (options_.save_records > 0)
    next_save_ = (issued_records_ / options_.save_records + 1) * options_.save_records;
  look_at_fpr();

  std::vector<std::thread> others;
  try {
    for (unsigned i = 1; i < options_.threads; ++i) others.emplace_back([this, i] { work(i); });
  } catch (const std::system_error&) {
    // Fewer threads give the same result.
  } catch (const std::bad_alloc&) {
  }
  work(0);
  for (std::thread& other : others) other.join();

  if (error_) std::rethrow_exception(error_);
  look_at_fpr();
  if (!emitter_) open_emitter();  // nothing came: an empty output all the same
  if (!options_.state.empty() && !options_.read_only)
    save_state(ended_ && !stats_.stopped && !stats_.over_max_fpr);
  stats_.output_bytes = emitter_->output().bytes();
  emitter_->close();
  stats_.input_taken = source_.taken();
  stats_.input_total = input_total_;
  stats_.window = judge_.window();
  stats_.seconds = seconds_since(start_);
  return stats_;
}

// The system clears memory when it is first touched, and records touch it all over: the first
// chunk would have nearly all of it cleared by one thread, and the others wait for their turn. So
// each thread asks for a part of it at once. Not for an input that may be too short to get around,
// and not for a sample, which fills from the front.
void Engine::populate(unsigned thread) const noexcept {
  const auto cells = structure_.payload();
  if (options_.threads == 1 || options_.read_only || input_total_ < cells.size() / 256 ||
      structure_.info().kind == Kind::Sample)
    return;
  populate_part(cells, thread, options_.threads, [this] { return asked_to_stop(); });
}

void Engine::work(unsigned thread) noexcept {
  populate(thread);
  try {
    Desk desk;
    work(desk);
  } catch (const Abandoned&) {
    // Somebody else has told why.
  } catch (...) {
    fail(std::current_exception());
  }
}

void Engine::work(Desk& desk) {
  const std::size_t enough = options_.threads == 1 ? 1 : most_ready;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!ready_.empty() && (reading_ || nothing_more_ || ready_.size() >= enough)) {
      ChunkPtr chunk = std::move(ready_.front());
      ready_.pop_front();
      lock.unlock();
      process_or_fail(*chunk, desk);
      lock.lock();
      spare_.push_back(std::move(chunk));
    } else if (!reading_ && !nothing_more_) {
      ChunkPtr chunk;
      if (!spare_.empty()) {
        chunk = std::move(spare_.back());
        spare_.pop_back();
      }
      reading_ = true;
      lock.unlock();
      if (!chunk) chunk = std::make_unique<Chunk>();
      const bool filled = read(*chunk, desk);
      lock.lock();
      reading_ = false;
      if (filled) ready_.push_back(std::move(chunk));
      if (!filled || done_) nothing_more_ = true;
      nothing_more_ ? changed_.notify_all() : changed_.notify_one();
    } else if (nothing_more_ && !reading_) {
      return;
    } else {
      changed_.wait(lock);
    }
  }
}

void Engine::fail(std::exception_ptr error) noexcept {
  {
    const std::lock_guard lock(stats_mutex_);
    if (!error_) error_ = std::move(error);
  }
  judge_.abandon();
  written_.abandon();
  wake_.up();
  const std::lock_guard lock(mutex_);
  nothing_more_ = true;
  reading_ = false;
  ready_.clear();
  changed_.notify_all();
}

// A chunk that is not finished would be waited for by all that come behind it.
void Engine::process_or_fail(Chunk& chunk, Desk& desk) {
  try {
    process(chunk, desk);
  } catch (const Abandoned&) {
    throw;
  } catch (...) {
    fail(std::current_exception());
    throw Abandoned{};
  }
}

void Engine::process(Chunk& chunk, Desk& desk) {
  keys_.digest(chunk, desk.keys);  // (2)
  if (options_.on_bad == OnBad::Fail && !chunk.bad.empty()) {
    chunk.judged = chunk.bad.front().record;
    judge_.end_with(chunk.number);
  }
  const Chunk::Bad first_bad = chunk.bad.empty() ? Chunk::Bad{} : chunk.bad.front();
  judge_.judge(chunk, desk.judge);  // (3)
  const bool was_long = chunk.ends.back() > long_chunk;
  emitter_->prepare(chunk, desk.prepared);  // (4)
  written_.wait(chunk.number);
  if (!judge_.ended_before(chunk.number)) {
    const Emitter::Prepared& p = desk.prepared;
    emitter_->write(chunk, p);  // (5)
    const std::lock_guard lock(stats_mutex_);
    stats_.records += p.records, stats_.bytes += p.bytes;
    stats_.first += p.first, stats_.repeats += p.repeats, stats_.bad += p.bad;
    if (first_bad.why != nullptr && stats_.first_bad.empty()) {
      stats_.first_bad = shown_name(options_.inputs[chunk.input]) + ", record " +
                         std::to_string(chunk.first_record + first_bad.record) + ": " +
                         first_bad.why;
      if (options_.on_bad == OnBad::Fail)
        error_ = std::make_exception_ptr(Error(
            ErrorCode::BadInput,
            stats_.first_bad + "; what came before is written (--on-bad pass or drop goes on)"));
    }
  }
  if (was_long) {
    chunk.buffer.shrink_to(0);
    desk.prepared = {};
    desk.keys.key = {};
  }
  written_.pass();
}

bool Engine::read(Chunk& chunk, Desk& desk) {
  try {
    attend(desk);
    return !done_ && next_chunk(chunk, desk);
  } catch (const Abandoned&) {
    throw;
  } catch (...) {
    // What is out is finished; then this is told.
    const std::lock_guard lock(stats_mutex_);
    if (!error_) error_ = std::current_exception();
    return false;
  }
}

// Everything that is out is written when this returns.
void Engine::rest(Desk& desk) {
  for (;;) {
    ChunkPtr chunk;
    {
      const std::lock_guard lock(mutex_);
      if (ready_.empty()) break;
      chunk = std::move(ready_.front());
      ready_.pop_front();
    }
    process_or_fail(*chunk, desk);
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(chunk));
  }
  written_.wait(issued_);
}

bool Engine::next_chunk(Chunk& chunk, Desk& desk) {
  for (;;) {
    std::uint64_t most = std::min<std::uint64_t>(most_records, next_look_ - issued_records_);
    if (next_save_ > 0) most = std::min(most, next_save_ - issued_records_);
    // A header takes a place, and no record is to be left out for it.
    switch (source_.fill(chunk, most, waiting())) {
      case Source::Filled::Yes:
        return issue(chunk);
      case Source::Filled::End:
        ended_ = true;
        return false;
      case Source::Filled::Stop:
        stats_.stopped = asked_to_stop();
        done_ = true;
        return stats_.stopped && source_.give_up(chunk) && issue(chunk);
      case Source::Filled::Timeout:
        attend(desk);
        if (done_) return false;
        break;
    }
  }
}

bool Engine::issue(Chunk& chunk) {
  if (!emitter_) open_emitter();
  chunk.number = issued_++;
  chunk.arrived = start_time_ + static_cast<std::int64_t>(seconds_since(start_) * 1e6);
  if (!chunk.piece || chunk.first_piece) issued_records_ += chunk.records() - chunk.heads;
  long_one_out_ = chunk.ends.back() > long_chunk;
  return true;
}

void Engine::open_emitter() { emitter_.emplace(options_); }

void Engine::attend(Desk& desk) {
  if (judge_.ended_before(issued_)) done_ = true;
  if (long_one_out_) rest(desk);
  if (issued_records_ >= next_look_) {
    rest(desk);
    look_at_fpr();
    next_look_ = next_look(issued_records_, structure_.memory());
  }
  if (!done_ && save_is_due() && source_.between_records()) {
    rest(desk);
    // Errors of chunks that were out then are told, not saved.
    bool failed;
    {
      const std::lock_guard lock(stats_mutex_);
      failed = error_ != nullptr;
    }
    if (!failed && emitter_) save_state(false);
    saved_ = Clock::now();
    saved_at_record_ = issued_records_;
    if (options_.save_records > 0)
      next_save_ = (issued_records_ / options_.save_records + 1) * options_.save_records;
  }
  if (!done_ && source_.can_stop_here() && asked_to_stop()) {
    stats_.stopped = done_ = true;
  }
  if (options_.progress && seconds_since(told_) >= progress_seconds) {
    told_ = Clock::now();
    DedupStats now;
    {
      const std::lock_guard lock(stats_mutex_);
      now = stats_;
    }
    now.seconds = seconds_since(start_);
    now.input_taken = source_.taken();
    now.input_total = input_total_;
    options_.progress(now);
  }
}

bool Engine::save_is_due() const {
  if (options_.state.empty() || options_.read_only || issued_records_ == saved_at_record_)
    return false;
  if (next_save_ > 0 && issued_records_ >= next_save_) return true;
  return options_.save_seconds > 0 && seconds_since(saved_) >= options_.save_seconds;
}

bool Engine::asked_to_stop() const {
  if (options_.stop_fd < 0) return false;
  pollfd stop{options_.stop_fd, POLLIN, 0};
  return ::poll(&stop, 1, 0) > 0 && stop.revents != 0;
}

Waiting Engine::waiting() const {
  Waiting w;
  w.stop_fds[0] = options_.stop_fd;
  if (options_.threads > 1) w.stop_fds[1] = wake_.fd();
  if (options_.save_seconds > 0 && !options_.state.empty() && issued_records_ > saved_at_record_) {
    const double left = options_.save_seconds - seconds_since(saved_);
    w.timeout_ms = static_cast<int>(std::clamp(std::ceil(left * 1000), 1.0, 1e9));
  }
  return w;
}

void Engine::look_at_fpr() {
  const double live = structure_.health().fpr;
  if (!warned_ && options_.warn && options_.warn_fpr > 0 && live > options_.warn_fpr) {
    warned_ = true;
    options_.warn(live);
  }
  if (options_.max_fpr > 0 && live > options_.max_fpr && !ended_) {
    stats_.over_max_fpr = true;
    done_ = true;
  }
}

// Output first, then the state: what is saved is never ahead of what is written.
void Engine::save_state(bool complete) {
  emitter_->sync();
  JobState job;
  job.window = judge_.window();
  if (!options_.resume) {
    job.complete = true;  // no position to go on from
    save(structure_, options_.state, job.window ? &job : nullptr);
  } else {
    job.job = describe_job(options_);
    job.complete = complete;
    job.input = source_.input(), job.offset = source_.offset(), job.ordinal = source_.records();
    if (complete) {
      job.fingerprint = fingerprint_of(options_.inputs);
    } else if (job.input < options_.inputs.size()) {
      if (fingerprint_input_ != job.input) {
        fingerprint_ = fingerprint_of(options_.inputs[job.input]);
        fingerprint_input_ = job.input;
      }
      job.fingerprint = fingerprint_;
    }
    job.output_bytes = emitter_->output().bytes();
    job.output_open = emitter_->output().open_record();
    if (const Output* repeats = emitter_->repeats()) {
      job.repeats_bytes = repeats->bytes();
      job.repeats_open = repeats->open_record();
    }
    const std::lock_guard lock(stats_mutex_);
    job.records = stats_.records, job.bytes = stats_.bytes;
    job.first = stats_.first, job.repeats = stats_.repeats, job.bad = stats_.bad;
    save(structure_, options_.state, &job);
  }
  ++stats_.saves;
}

}  // namespace

bool inputs_changed(const JobState& job, const DedupOptions& options) {
  require_readable(options.inputs);
  return job.complete && fingerprint_of(options.inputs).hash != job.fingerprint.hash;
}

DedupStats dedup(Structure& structure, const DedupOptions& options) {
  check_options(structure, options);
  require_readable(options.inputs);
  if (const auto& from = options.position) {
    if (from->job != describe_job(options) || from->input > options.inputs.size())
      throw Error(ErrorCode::Config, "the saved position is of another job");
    if (from->input < options.inputs.size() &&
        !has_fingerprint(options.inputs[from->input], from->fingerprint))
      throw Error(ErrorCode::Io, options.inputs[from->input] +
                                     " is not the file that was read before the interruption");
  }
  return Engine(structure, options).run();
}

}  // namespace weir
