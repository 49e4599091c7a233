#include <poll.h>

#include <algorithm>
#include <cmath>

#include "pipeline/engine.hpp"

namespace weir {
namespace {

constexpr std::size_t most_records = 16384;  // a chunk
constexpr double progress_seconds = 0.5;

}  // namespace

// The records at which the live FPR is looked at: each time the stream has grown by 2 %, but
// not so often that looking would cost more than the work. They depend on nothing else, so
// that a run ends at the same record for every number of threads.
std::uint64_t Engine::next_look(std::uint64_t records, std::uint64_t memory) {
  const std::uint64_t least = std::clamp<std::uint64_t>(memory / 64, 256, 8 << 20);
  std::uint64_t at = 0;
  while (at <= records)
    at = std::max(at + least, static_cast<std::uint64_t>(1.02 * static_cast<double>(at)));
  return at;
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

}  // namespace weir
