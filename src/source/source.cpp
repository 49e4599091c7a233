#include "source/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "source/row_ends.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

std::string_view without_line_end(std::string_view row) {
  if (row.ends_with('\n')) row.remove_suffix(1);
  return without_return(row);
}

}  // namespace

Source::Source(const DedupOptions& options, std::function<void(std::string_view)> header)
    : options_(options), header_found_(std::move(header)), cutter_(options.format) {}

void Source::open() {
  stream_ = open_bytes(options_.inputs[input_], options_.decompress);
  offset_ = records_ = carried_ = 0;
  ended_ = in_pieces_ = false;
}

void Source::next_input() {
  if (stream_) taken_before_ += stream_->taken();
  stream_.reset();
  offset_ = records_ = carried_ = 0;
  ++input_;
}

std::uint64_t Source::taken() const noexcept {
  return taken_before_ + (stream_ ? stream_->taken() : 0);
}

Source::Filled Source::fill(Chunk& chunk, std::size_t most, const Waiting& waiting) {
  while (input_ < options_.inputs.size()) {
    if (!stream_) open();
    const Filled filled = fill_from_here(chunk, most, waiting);
    if (filled != Filled::End) return filled;
    next_input();
  }
  return Filled::End;
}

Source::Filled Source::fill_from_here(Chunk& chunk, std::size_t most, const Waiting& waiting) {
  const std::uint64_t block = options_.chunk_bytes;
  chunk.buffer.shrink_to(4 * block);
  chunk.buffer.reserve(std::max<std::uint64_t>(block, carried_));
  chunk.ends.clear();
  chunk.heads = 0;
  chunk.unterminated = chunk.open_quotes = false;
  chunk.piece = in_pieces_;
  chunk.first_piece = false;
  if (carried_ > 0) std::memcpy(chunk.buffer.data(), carry_.data(), carried_);
  std::uint64_t filled = std::exchange(carried_, 0), looked = 0;
  if (!in_pieces_) cutter_.restart();

  for (;;) {
    // A byte order mark is not part of the first field.
    const bool marked = options_.format.kind == Records::Csv && offset_ == 0 &&
                        std::string_view(chunk.buffer.data(), filled).starts_with(byte_order_mark);
    const std::uint64_t begin = in_pieces_ ? ~std::uint64_t{0}
                                : marked   ? byte_order_mark.size()
                                           : 0;
    if (filled > looked || options_.format.kind == Records::Fixed)
      looked = cutter_.cut(chunk.buffer.data(), begin, looked, filled, in_pieces_ ? 1 : most,
                           chunk.ends);
    if (!chunk.ends.empty()) break;
    if (ended_) {
      if (filled == 0) return Filled::End;
      chunk.ends.push_back(filled);
      chunk.unterminated = true;
      chunk.open_quotes = cutter_.open();
      break;
    }
    // A header is needed whole, however long.
    const bool too_long =
        options_.max_record > 0 && filled > options_.max_record && !(offset_ == 0 && has_headers());
    if (filled >= block && (in_pieces_ || too_long)) {
      make_piece(chunk, filled);
      break;
    }
    const std::uint64_t room = std::max<std::uint64_t>(block - std::min(filled, block), block / 4);
    if (filled + room > chunk.buffer.capacity())
      chunk.buffer.reserve(std::max(filled + room, chunk.buffer.capacity() * 2));
    std::size_t count = 0;
    const auto got = stream_->read(chunk.buffer.data() + filled, room, count, waiting);
    filled += count;
    if (got == ByteStream::Got::End) ended_ = true;
    if (got == ByteStream::Got::Stop || got == ByteStream::Got::Timeout) {
      if (in_pieces_ && filled > 0) {  // the cutter has been through it
        make_piece(chunk, filled);
        break;
      }
      carry_rest(chunk, 0, filled);
      return got == ByteStream::Got::Stop ? Filled::Stop : Filled::Timeout;
    }
  }
  deliver(chunk, filled);
  return Filled::Yes;
}

// What was read of a record that is too long, without its end.
void Source::make_piece(Chunk& chunk, std::uint64_t filled) {
  chunk.first_piece = !in_pieces_;
  chunk.piece = in_pieces_ = true;
  chunk.ends.push_back(filled);
  chunk.unterminated = true;
  cutter_.moved(filled, chunk.buffer.data()[filled - 1]);
}

void Source::carry_rest(Chunk& chunk, std::uint64_t from, std::uint64_t filled) {
  carried_ = filled - from;
  if (carried_ == 0) return;
  if (from == 0) {  // all of it; a long record must not be there twice
    carry_.swap(chunk.buffer);
    return;
  }
  carry_.shrink_to(4 * options_.chunk_bytes);
  carry_.reserve(carried_);
  std::memcpy(carry_.data(), chunk.buffer.data() + from, carried_);
}

void Source::deliver(Chunk& chunk, std::uint64_t filled) {
  if (!chunk.unterminated || ended_) in_pieces_ = false;
  carry_rest(chunk, chunk.ends.back(), filled);
  chunk.input = input_;
  chunk.first_record = records_ + 1;
  chunk.terminator = cutter_.terminator_bytes();
  if (offset_ == 0) meet_header(chunk);
  offset_ += chunk.ends.back();
  records_ += chunk.piece && !chunk.first_piece ? 0 : chunk.records();
}

void Source::meet_header(Chunk& chunk) {
  if (!has_headers()) return;
  const std::string_view row = without_mark(without_line_end(chunk.record(0)));
  if (has_header_ && row != header_)
    throw Error(ErrorCode::Io, shown_name(options_.inputs[input_]) + " has another header than " +
                                   "the inputs before it; give inputs with the same columns, or "
                                   "--no-header");
  chunk.heads = 1;
  chunk.new_header = !has_header_;
  if (has_header_) return;
  header_ = row;
  has_header_ = true;
  header_found_(row);
}

bool Source::give_up(Chunk& chunk) {
  if (carried_ == 0 || can_stop_here()) return false;
  chunk.buffer.swap(carry_);
  chunk.ends.clear();
  chunk.ends.push_back(std::exchange(carried_, 0));
  chunk.heads = 0;
  chunk.unterminated = true;
  chunk.open_quotes = false;
  chunk.piece = in_pieces_;
  chunk.first_piece = false;
  chunk.input = input_;
  chunk.first_record = records_ + 1;
  chunk.terminator = cutter_.terminator_bytes();
  return true;
}

void Source::go_to(std::uint32_t input, std::uint64_t offset, std::uint64_t records) {
  Chunk chunk;
  if (has_headers())
    while (!has_header_ && (input_ < input || (input_ == input && offset > 0))) {
      if (fill(chunk, 1, {}) != Filled::Yes) break;
    }
  stream_.reset();
  const auto all = options_.inputs.begin();
  taken_before_ =
      total_size({all, all + std::min<std::ptrdiff_t>(input, std::ssize(options_.inputs))});
  in_pieces_ = false;
  input_ = input;
  if (input_ >= options_.inputs.size()) return;
  open();
  if (offset > 0 && !stream_->seek(offset)) {  // compressed: read up to there
    chunk.buffer.reserve(options_.chunk_bytes);
    for (std::uint64_t left = offset; left > 0;) {
      std::size_t count = 0;
      const auto room = std::min<std::uint64_t>(left, options_.chunk_bytes);
      if (stream_->read(chunk.buffer.data(), room, count, {}) != ByteStream::Got::Bytes)
        throw Error(ErrorCode::Io, shown_name(options_.inputs[input_]) +
                                       " is shorter than it was when the job was interrupted");
      left -= count;
    }
  }
  offset_ = offset;
  records_ = records;
}

void require_readable(const std::vector<std::string>& inputs) {
  for (const std::string& name : inputs) {
    if (name == "-") continue;
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorCode::Io, "cannot open " + name + ": " + why);
    };
    struct stat status {};
    if (::stat(name.c_str(), &status) != 0) refuse(std::strerror(errno));
    if (S_ISDIR(status.st_mode)) refuse("it is a directory");
    if (::access(name.c_str(), R_OK) != 0) refuse(std::strerror(errno));
  }
}

std::uint64_t total_size(const std::vector<std::string>& inputs) {
  std::uint64_t sum = 0;
  for (const std::string& name : inputs) {
    struct stat status {};
    const int found = name == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(name.c_str(), &status);
    if (found != 0 || !S_ISREG(status.st_mode)) return 0;
    sum += static_cast<std::uint64_t>(status.st_size);
  }
  return sum;
}

namespace {

std::uint64_t hash_of_start(const std::string& file, std::uint64_t bytes, std::uint64_t& found) {
  std::array<char, Fingerprint::most_bytes> start;
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw Error(ErrorCode::Io, "cannot open " + file + ": " + std::strerror(errno));
  bytes = std::min<std::uint64_t>(bytes, start.size());
  found = 0;
  ssize_t n = 1;
  while (found < bytes && n != 0) {
    n = ::pread(fd, start.data() + found, bytes - found, static_cast<off_t>(found));
    if (n < 0 && errno != EINTR) break;
    if (n > 0) found += static_cast<std::uint64_t>(n);
  }
  const int error = errno;
  ::close(fd);
  if (n < 0) throw Error(ErrorCode::Io, "cannot read " + file + ": " + std::strerror(error));
  return XXH3_64bits(start.data(), found);
}

}  // namespace

Fingerprint fingerprint_of(const std::string& file) {
  Fingerprint fingerprint;
  fingerprint.hash = hash_of_start(file, Fingerprint::most_bytes, fingerprint.bytes);
  return fingerprint;
}

Fingerprint fingerprint_of(const std::vector<std::string>& files) {
  std::vector<std::uint64_t> all;
  for (const std::string& file : files) {
    const Fingerprint one = fingerprint_of(file);
    all.insert(all.end(), {total_size({file}), one.bytes, one.hash});
  }
  return {0, XXH3_64bits(all.data(), all.size() * sizeof(std::uint64_t))};
}

bool has_fingerprint(const std::string& file, const Fingerprint& fingerprint) {
  std::uint64_t found = 0;
  const std::uint64_t hash = hash_of_start(file, fingerprint.bytes, found);
  return found == fingerprint.bytes && hash == fingerprint.hash;
}

}  // namespace weir
