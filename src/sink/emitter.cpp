#include "sink/emitter.hpp"

#include <charconv>
#include <cstring>

namespace weir {
namespace {

Output open_output(const DedupOptions& options) {
  if (options.output.empty()) return {options.output_fd, "the output"};
  if (options.position)
    return Output::go_on(options.output, options.position->output_bytes,
                         options.position->output_open);
  return Output::create(options.output);
}

std::optional<Output> open_repeats(const DedupOptions& options) {
  if (options.repeats_file.empty()) return std::nullopt;
  if (options.position)
    return Output::go_on(options.repeats_file, options.position->repeats_bytes,
                         options.position->repeats_open);
  return Output::create(options.repeats_file);
}

bool has_prefix(Emit emit) {
  return emit == Emit::Mark || emit == Emit::Count || emit == Emit::CountRepeats;
}

}  // namespace

Emitter::Emitter(const DedupOptions& options)
    : options_(options),
      output_(open_output(options)),
      repeats_(open_repeats(options)),
      terminator_(options.format.kind == Records::Nul ? '\0' : '\n') {
  // Only when both are what they should be.
  if (!options.position) return;
  if (!options.output.empty()) output_.cut_back();
  if (repeats_) repeats_->cut_back();
}

void Emitter::prepare(Chunk& chunk, Prepared& p) const {
  p.main = p.side = {};
  p.main_open = p.side_open = false;
  p.first = p.repeats = p.bad = p.records = 0;
  p.main_text.clear();
  p.side_text.clear();
  p.bytes = chunk.judged == 0 ? 0 : chunk.ends[chunk.judged - 1];
  if (chunk.piece) return prepare_piece(chunk, p);

  p.records = chunk.judged - chunk.heads;
  for (const Chunk::Bad& bad : chunk.bad) p.bad += bad.record < chunk.judged ? 1 : 0;
  for (std::size_t i = chunk.heads; i < chunk.judged; ++i)
    p.repeats += chunk.verdicts[i] == Verdict::Seen ? 1 : 0;
  p.first = p.records - p.repeats - p.bad;

  if (options_.emit == Emit::Nothing) return;

  const bool unterminated = chunk.unterminated && chunk.terminator > 0;
  if (repeats_) {
    if (chunk.heads > 0 && chunk.new_header) {
      p.side_text += chunk.record(0);
      p.side_open = !chunk.terminated(0);
    }
    for (std::size_t i = chunk.heads; i < chunk.judged; ++i) {
      if (chunk.verdicts[i] != Verdict::Seen) continue;
      p.side_text += chunk.record(i);
      p.side_open = unterminated && !chunk.terminated(i);
    }
    p.side = p.side_text;
  }
  if (!has_prefix(options_.emit))
    return keep_in_place(chunk, options_.emit == Emit::First ? Verdict::New : Verdict::Seen, p);

  if (chunk.heads > 0 && chunk.new_header) {
    append_prefixed(chunk, 0, true, p);
    p.main_open = !chunk.terminated(0);
  }
  std::size_t next_bad = 0;
  for (std::size_t i = chunk.heads; i < chunk.judged; ++i) {
    const bool bad = next_bad < chunk.bad.size() && chunk.bad[next_bad].record == i;
    next_bad += bad ? 1 : 0;
    if (bad ? options_.on_bad != OnBad::Pass || options_.emit == Emit::CountRepeats
            : options_.emit == Emit::CountRepeats && chunk.verdicts[i] == Verdict::New)
      continue;
    append_prefixed(chunk, i, bad, p);
    p.main_open = unterminated && !chunk.terminated(i);
  }
  p.main = p.main_text;
}

void Emitter::append_prefixed(const Chunk& chunk, std::size_t record, bool bad, Prepared& p) const {
  if (options_.emit == Emit::Mark) {
    p.main_text += !bad && chunk.verdicts[record] == Verdict::Seen ? '1' : '0';
  } else {
    char digits[24];
    const std::uint64_t count = bad ? 0 : chunk.counts[record];
    p.main_text.append(digits, std::to_chars(digits, digits + sizeof digits, count).ptr);
  }
  p.main_text += '\t';
  p.main_text += chunk.record(record);
}

// Whole runs of kept records move to the front together.
void Emitter::keep_in_place(Chunk& chunk, Verdict kept, Prepared& p) const {
  char* const data = chunk.buffer.data();
  const Verdict* const verdicts = chunk.verdicts.data();
  std::uint64_t filled = 0;
  const auto keep = [&](std::uint64_t from, std::uint64_t to) {
    if (from != filled) std::memmove(data + filled, data + from, to - from);
    filled += to - from;
  };
  if (chunk.heads > 0 && chunk.new_header) {
    keep(0, chunk.ends[0]);
    p.main_open = !chunk.terminated(0);
  }
  const bool pass_bad = kept == Verdict::New && options_.on_bad == OnBad::Pass;
  std::size_t next_bad = 0, i = chunk.heads;
  while (i < chunk.judged) {
    // Bad records have the verdict New, and may have to be left out all the same.
    const std::size_t until = pass_bad || next_bad == chunk.bad.size()
                                  ? chunk.judged
                                  : std::min<std::size_t>(chunk.bad[next_bad].record, chunk.judged);
    while (i < until) {
      if (verdicts[i] != kept) {
        ++i;
        continue;
      }
      const std::size_t run = i;
      while (i < until && verdicts[i] == kept) ++i;
      keep(chunk.begin_of(run), chunk.ends[i - 1]);
      if (i == chunk.records()) p.main_open = chunk.unterminated && chunk.terminator > 0;
    }
    if (until < chunk.judged) ++i, ++next_bad;  // pass over the bad one
  }
  p.main = {data, filled};
}

void Emitter::prepare_piece(Chunk& chunk, Prepared& p) const {
  p.records = p.bad = chunk.first_piece ? 1 : 0;
  const bool shown = options_.emit != Emit::Repeats && options_.emit != Emit::CountRepeats &&
                     options_.emit != Emit::Nothing;
  if (options_.on_bad != OnBad::Pass || !shown) return;
  p.main = {chunk.buffer.data(), chunk.ends[0]};
  if (chunk.first_piece && has_prefix(options_.emit)) {
    append_prefixed(chunk, 0, true, p);
    p.main = p.main_text;
  }
  p.main_open = chunk.unterminated && chunk.terminator > 0;
}

void Emitter::write(const Chunk& chunk, const Prepared& p) {
  output_.write(p.main, p.main_open, terminator_, chunk.piece && !chunk.first_piece);
  if (repeats_) repeats_->write(p.side, p.side_open, terminator_);
}

void Emitter::sync() {
  output_.sync();
  if (repeats_) repeats_->sync();
}

void Emitter::close() {
  output_.close();
  if (repeats_) repeats_->close();
}

}  // namespace weir
