#include "pipeline/engine.hpp"

#include <algorithm>
#include <thread>

#include "core/memory.hpp"

namespace weir {
namespace {

constexpr unsigned most_ready = 8;  // chunks that lie in the queue: they are memory too

}  // namespace

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

}  // namespace weir
