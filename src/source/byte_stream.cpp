#include "source/byte_stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "weir/error.hpp"

namespace weir {
namespace {

using Got = ByteStream::Got;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::Io, what); }

constexpr std::size_t magic_bytes = 4;

class FileBytes final : public ByteStream {
 public:
  explicit FileBytes(const std::string& name)
      : name_(shown_name(name)),
        fd_(name == "-" ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail("cannot open " + name_ + ": " + std::strerror(errno));
    struct stat status {};
    if (::fstat(fd_, &status) != 0) fail("cannot read " + name_ + ": " + std::strerror(errno));
    if (S_ISDIR(status.st_mode)) fail("cannot read " + name_ + ": it is a directory");
    if (S_ISREG(status.st_mode)) {
      const off_t here = ::lseek(fd_, 0, SEEK_CUR);
      if (here < 0) fail("cannot read " + name_ + ": " + std::strerror(errno));
      if (status.st_size > here) size_ = static_cast<std::uint64_t>(status.st_size - here);
      regular_ = true;
      ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else if (S_ISFIFO(status.st_mode)) {
      ::fcntl(fd_, F_SETPIPE_SZ, 1 << 20);  // fewer, larger reads; the default serves as well
    }
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes() override {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }

  Got read(char* to, std::size_t room, std::size_t& count, const Waiting& waiting) override {
    count = 0;
    if (begin_ < held_.size()) {  // looked at for the magic bytes
      count = std::min(room, held_.size() - begin_);
      std::memcpy(to, held_.data() + begin_, count);
      begin_ += count;
      return Got::Bytes;
    }
    const Got ready = wait(waiting);
    if (ready != Got::Bytes) return ready;
    count = read_some(to, room);
    return count == 0 ? Got::End : Got::Bytes;
  }

  bool seek(std::uint64_t bytes) override {
    if (!regular_) return false;
    if (bytes > size_)
      fail(name_ + " is shorter than it was when the job was interrupted: it has " +
           std::to_string(size_) + " bytes, of which " + std::to_string(bytes) + " were done");
    if (::lseek(fd_, static_cast<off_t>(bytes) - static_cast<off_t>(held_.size()), SEEK_CUR) < 0)
      return false;
    taken_ = bytes;
    held_.clear();
    begin_ = 0;
    return true;
  }

  [[nodiscard]] bool is_file() const override { return regular_; }
  [[nodiscard]] std::uint64_t taken() const override { return taken_; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

  // Fills start() until it differs from every magic, is as long as one, or the input ends.
  Got look(bool (*could_be)(std::string_view), const Waiting& waiting) {
    while (held_.size() < magic_bytes && could_be(start())) {
      const Got ready = wait(waiting);
      if (ready != Got::Bytes) return ready;
      std::array<char, magic_bytes> more;
      const std::size_t n = read_some(more.data(), magic_bytes - held_.size());
      if (n == 0) break;
      held_.insert(held_.end(), more.begin(), more.begin() + static_cast<std::ptrdiff_t>(n));
    }
    return Got::Bytes;
  }
  [[nodiscard]] std::string_view start() const { return {held_.data(), held_.size()}; }

 private:
  // A file is always ready; a pipe or terminal may keep us waiting while someone wants to stop.
  Got wait(const Waiting& waiting) const {
    const auto [stop, other_stop] = waiting.stop_fds;
    if (regular_ || (stop < 0 && other_stop < 0 && waiting.timeout_ms < 0)) return Got::Bytes;
    for (;;) {
      pollfd any[3] = {{fd_, POLLIN, 0}, {stop, POLLIN, 0}, {other_stop, POLLIN, 0}};
      const int n = ::poll(any, 3, waiting.timeout_ms);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("cannot wait for " + name_ + ": " + std::strerror(errno));
      if (any[1].revents != 0 || any[2].revents != 0) return Got::Stop;
      return n == 0 ? Got::Timeout : Got::Bytes;
    }
  }

  std::size_t read_some(char* to, std::size_t room) {
    for (;;) {
      const ssize_t n = ::read(fd_, to, room);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) {  // somebody made our pipe non-blocking
        pollfd input{fd_, POLLIN, 0};
        ::poll(&input, 1, -1);
        continue;
      }
      if (n < 0) fail("cannot read " + name_ + ": " + std::strerror(errno));
      taken_ += static_cast<std::uint64_t>(n);
      if (n == 0 && taken_ < size_)
        fail(name_ + " shrank while it was read: it had " + std::to_string(size_) +
             " bytes and ended after " + std::to_string(taken_));
      return static_cast<std::size_t>(n);
    }
  }

  std::string name_;
  int fd_;
  bool regular_ = false;
  std::uint64_t size_ = 0, taken_ = 0;
  std::vector<char> held_;
  std::size_t begin_ = 0;
};

constexpr std::size_t compressed_block = 128 << 10;

// What both decompressors share: a block of compressed bytes, refilled.
class Compressed : public ByteStream {
 public:
  explicit Compressed(std::unique_ptr<FileBytes> file, std::string name)
      : file_(std::move(file)), name_(std::move(name)), block_(compressed_block) {}
  bool seek(std::uint64_t) override { return false; }
  [[nodiscard]] bool is_file() const override { return file_->is_file(); }
  [[nodiscard]] std::uint64_t taken() const override { return file_->taken(); }
  [[nodiscard]] std::uint64_t size() const override { return file_->size(); }

  Got read(char* to, std::size_t room, std::size_t& count, const Waiting& waiting) override {
    count = 0;
    for (;;) {
      if (begin_ == end_ && !ended_) {
        std::size_t n = 0;
        const Got got = file_->read(block_.data(), block_.size(), n, waiting);
        if (got == Got::Stop || got == Got::Timeout) return got;
        ended_ = got == Got::End;
        begin_ = 0;
        end_ = n;
      }
      if (begin_ == end_ && ended_ && !pending()) {
        if (!between_parts()) fail(name_ + " is truncated: it ends in the middle of its " + kind());
        return Got::End;
      }
      count = inflate(to, room);
      if (count > 0) return Got::Bytes;
    }
  }

 protected:
  // Some of block_[begin_, end_) to `to`; returns the bytes made.
  virtual std::size_t inflate(char* to, std::size_t room) = 0;
  [[nodiscard]] virtual bool between_parts() const = 0;
  // More may come although the block is used up.
  [[nodiscard]] virtual bool pending() const = 0;
  [[nodiscard]] virtual const char* kind() const = 0;
  [[noreturn]] void damaged(const char* why) const {
    fail(name_ + " is damaged: its " + kind() + " data cannot be read (" + why + ")");
  }

  std::unique_ptr<FileBytes> file_;
  std::string name_;
  std::vector<char> block_;
  std::size_t begin_ = 0, end_ = 0;
  bool ended_ = false;
};

class GzipBytes final : public Compressed {
 public:
  GzipBytes(std::unique_ptr<FileBytes> file, std::string name)
      : Compressed(std::move(file), std::move(name)) {
    if (::inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~GzipBytes() override { ::inflateEnd(&stream_); }

 private:
  std::size_t inflate(char* to, std::size_t room) override {
    if (between_) {  // another member, or zeros as tapes and block devices pad with
      while (seen_member_ && begin_ < end_ && block_[begin_] == 0) ++begin_;
      if (begin_ == end_) return 0;
      ::inflateReset(&stream_);
      between_ = false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(block_.data() + begin_);
    stream_.avail_in = static_cast<uInt>(end_ - begin_);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(room, 1 << 30));
    const uInt wanted = stream_.avail_out;
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    begin_ = end_ - stream_.avail_in;
    pending_ = stream_.avail_out == 0;
    if (result == Z_STREAM_END) between_ = seen_member_ = true, pending_ = false;
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result == Z_BUF_ERROR) pending_ = false;
    const std::size_t made = wanted - stream_.avail_out;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      // What came before the damage is good; the next call meets the damage again.
      if (made == 0) damaged(stream_.msg != nullptr ? stream_.msg : "unknown reason");
      pending_ = true;
    }
    return made;
  }
  [[nodiscard]] bool between_parts() const override { return between_ && seen_member_; }
  [[nodiscard]] bool pending() const override { return pending_; }
  [[nodiscard]] const char* kind() const override { return "gzip"; }

  z_stream stream_{};
  bool between_ = false, seen_member_ = false, pending_ = false;
};

class ZstdBytes final : public Compressed {
 public:
  ZstdBytes(std::unique_ptr<FileBytes> file, std::string name)
      : Compressed(std::move(file), std::move(name)), stream_(::ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdBytes() override { ::ZSTD_freeDStream(stream_); }
  ZstdBytes(const ZstdBytes&) = delete;
  ZstdBytes& operator=(const ZstdBytes&) = delete;

 private:
  std::size_t inflate(char* to, std::size_t room) override {
    ZSTD_inBuffer in{block_.data() + begin_, end_ - begin_, 0};
    ZSTD_outBuffer out{to, room, 0};
    const std::size_t result = ::ZSTD_decompressStream(stream_, &out, &in);
    if (::ZSTD_isError(result) != 0) {
      if (::ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (::ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
        fail(name_ +
             " was compressed with a window above 128 MiB; decompress it by "
             "zstd -dc --long=31 into weir");
      damaged(::ZSTD_getErrorName(result));
    }
    begin_ += in.pos;
    between_ = result == 0;
    pending_ = out.pos == out.size && !between_;
    return out.pos;
  }
  [[nodiscard]] bool between_parts() const override { return between_; }
  [[nodiscard]] bool pending() const override { return pending_; }
  [[nodiscard]] const char* kind() const override { return "zstd"; }

  ZSTD_DStream* stream_;
  bool between_ = false, pending_ = false;
};

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd";

bool starts_zstd(std::string_view start) {  // a frame, or one that may be skipped: 5? 2a 4d 18
  return start == zstd_magic || (start.size() == magic_bytes && (start[0] & 0xf0) == 0x50 &&
                                 start.ends_with("\x2a\x4d\x18"));
}

bool could_be_compressed(std::string_view start) {
  if (start.empty()) return true;
  return gzip_magic.starts_with(start) || start.starts_with(gzip_magic) ||
         zstd_magic.starts_with(start) ||
         ((start[0] & 0xf0) == 0x50 &&
          std::string_view("\x2a\x4d\x18").starts_with(start.substr(1)));
}

// Decides with the first bytes, when these are asked for.
class DetectedBytes final : public ByteStream {
 public:
  explicit DetectedBytes(const std::string& name)
      : name_(shown_name(name)), file_(std::make_unique<FileBytes>(name)) {}

  Got read(char* to, std::size_t room, std::size_t& count, const Waiting& waiting) override {
    count = 0;
    const Got decided = decide(waiting);
    return decided == Got::Bytes ? bytes_->read(to, room, count, waiting) : decided;
  }
  bool seek(std::uint64_t bytes) override {
    return decide({}) == Got::Bytes && bytes_->seek(bytes);
  }
  [[nodiscard]] bool is_file() const override {
    return bytes_ ? bytes_->is_file() : file_->is_file();
  }
  [[nodiscard]] std::uint64_t taken() const override { return bytes_ ? bytes_->taken() : 0; }
  [[nodiscard]] std::uint64_t size() const override {
    return bytes_ ? bytes_->size() : file_->size();
  }

 private:
  Got decide(const Waiting& waiting) {
    if (bytes_) return Got::Bytes;
    const Got looked = file_->look(could_be_compressed, waiting);
    if (looked != Got::Bytes) return looked;
    if (file_->start().starts_with(gzip_magic))
      bytes_ = std::make_unique<GzipBytes>(std::move(file_), name_);
    else if (starts_zstd(file_->start()))
      bytes_ = std::make_unique<ZstdBytes>(std::move(file_), name_);
    else
      bytes_ = std::move(file_);
    return Got::Bytes;
  }

  std::string name_;
  std::unique_ptr<FileBytes> file_;  // until it is decided
  std::unique_ptr<ByteStream> bytes_;
};

}  // namespace

std::string shown_name(const std::string& name) { return name == "-" ? "standard input" : name; }

std::unique_ptr<ByteStream> open_bytes(const std::string& name, bool decompress) {
  if (decompress) return std::make_unique<DetectedBytes>(name);
  return std::make_unique<FileBytes>(name);
}

}  // namespace weir
