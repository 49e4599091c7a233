// State files: atomic replacement, and reading without trust in the size.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "checkpoint/folder.hpp"
#include "checkpoint/job_state.hpp"
#include "checkpoint/replace_file.hpp"
#include "weir/snapshot.hpp"

namespace weir {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw Error(ErrorCode::Io,
              std::string("cannot ") + what + " " + path.string() + ": " + std::strerror(errno));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  // The error of the last close is an error of writing.
  int close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd);
  }

 private:
  int fd_;
};

class FileSink final : public ByteSink {
 public:
  FileSink(int fd, const fs::path& path) : fd_(fd), path_(path) {}
  void write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("write", path_);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

 private:
  int fd_;
  const fs::path& path_;
};

class FileSource final : public ByteSource {
 public:
  FileSource(int fd, std::uint64_t size, const fs::path& path)
      : fd_(fd), size_(size), path_(path) {}
  void read(std::span<std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::read(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("read", path_);
      if (n == 0) throw Error(ErrorCode::BadState, "the state is damaged: it ends early");
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

 private:
  int fd_;
  std::uint64_t size_;
  const fs::path& path_;
};

// Unlinks the temporary file unless it was renamed.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!kept_) ::unlink(path_.c_str());
  }
  void kept() { kept_ = true; }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool kept_ = false;
};

// A link keeps pointing to the state: the file behind it, be it there or not, is what is
// replaced.
fs::path behind_links(fs::path path) {
  constexpr int most_links = 40;  // the kernel's own limit
  std::error_code error;
  for (int i = 0; i < most_links && fs::is_symlink(path, error); ++i) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;  // a target from the root on stands for itself
  }
  return path;
}

}  // namespace

void sync_folder_of(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) fail("open", folder);
  if (::fsync(fd.get()) != 0) fail("sync", folder);
}

void replace_file(const fs::path& requested, const std::function<void(ByteSink&)>& write,
                  const std::function<void(int fd)>& dress) {
  const fs::path path = behind_links(requested);
  // A rename would put a file where the device or pipe was, /dev/null for everybody.
  struct stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) errno = EISDIR;
  if (exists ? S_ISDIR(there.st_mode) : errno != ENOENT) fail("write", path);
  if (exists && !S_ISREG(there.st_mode))
    throw Error(ErrorCode::Io, "cannot replace " + path.string() + ": it is not a regular file");
  Temporary temporary(path.string() + ".tmp." + std::to_string(::getpid()));
  Descriptor fd(::open(temporary.path().c_str(),
                       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.get() < 0) {
    const int error = errno;
    temporary.kept();  // nothing of ours to remove
    errno = error;
    fail("create", temporary.path());
  }
  if (::fchmod(fd.get(), 0600) != 0) fail("restrict the mode of", temporary.path());
  FileSink sink(fd.get(), temporary.path());
  write(sink);
  if (dress) dress(fd.get());
  if (::fsync(fd.get()) != 0) fail("sync", temporary.path());
  if (fd.close() != 0) fail("close", temporary.path());
  if (::rename(temporary.path().c_str(), path.c_str()) != 0) fail("replace", path);
  temporary.kept();
  sync_folder_of(path);
}

void read_file(const fs::path& path, const std::function<void(ByteSource&)>& read) {
  // O_NONBLOCK: a named pipe must be refused, not waited for.
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) fail("open", path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail("look at", path);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::BadState, path.string() + ": this is not a file");
  FileSource file(fd.get(), static_cast<std::uint64_t>(status.st_size), path);
  try {
    read(file);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::BadState) throw;
    throw Error(ErrorCode::BadState, path.string() + ": " + error.what());
  }
}

void save(const Structure& structure, const fs::path& path, const JobState* job) {
  replace_file(path, [&](ByteSink& sink) {
    if (job != nullptr) write_job_state(*job, sink);
    write_snapshot(structure, sink);
  });
}

StructurePtr load(const fs::path& path, SnapshotInfo* info, std::optional<JobState>* job) {
  StructurePtr structure;
  read_file(path, [&](ByteSource& file) {
    BehindJobState source(file);
    structure = read_snapshot(source, info);
    if (job != nullptr) *job = source.job();
  });
  return structure;
}

FilterPtr load_filter(const fs::path& path, SnapshotInfo* info) {
  StructurePtr loaded = load(path, info);
  if (loaded->info().kind != Kind::Filter)
    throw Error(ErrorCode::BadState, path.string() + ": it holds a " +
                                         kind_name(loaded->info().kind) + " (" +
                                         loaded->info().name + "), not a filter");
  return FilterPtr(static_cast<Filter*>(loaded.release()));
}

}  // namespace weir
