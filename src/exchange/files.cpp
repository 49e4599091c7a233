#include "exchange/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "weir/error.hpp"

namespace weir {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const std::string& name, int error = errno) {
  throw Error(ErrorCode::Io,
              std::string("cannot ") + what + " " + name + ": " + std::strerror(error));
}

std::size_t checked(ssize_t count, const std::string& name) {
  if (count < 0) fail("read", name);
  return static_cast<std::size_t>(count);
}

int open_for_reading(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("open", path.string());
  return fd;
}

}  // namespace

InputFile::InputFile(int fd, std::string name) : fd_(fd), name_(std::move(name)) {
  if (::fstat(fd_, &status_) != 0) {
    const int error = errno;
    ::close(fd_);
    fail("look at", name_, error);
  }
  if (S_ISDIR(status_.st_mode)) {
    ::close(fd_);
    fail("read", name_, EISDIR);
  }
}

InputFile::InputFile(const fs::path& path) : InputFile(open_for_reading(path), path.string()) {
  if (S_ISREG(status_.st_mode)) return;  // the destructor runs from here on
  throw Error(ErrorCode::Io, "cannot use " + name_ + ": it is not a regular file");
}

InputFile InputFile::any(const std::string& name) {
  if (name != "-") return {open_for_reading(name), name};
  const int fd = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  if (fd < 0) fail("read", "standard input");
  return {fd, "standard input"};
}

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), name_(std::move(other.name_)), status_(other.status_) {}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

ReadSome InputFile::reader() const {
  return [this](std::span<std::byte> bytes) {
    ssize_t count;
    do count = ::read(fd_, bytes.data(), bytes.size());
    while (count < 0 && errno == EINTR);
    return checked(count, name_);
  };
}

ReadAt InputFile::reader_at() const {
  return [this](std::uint64_t at, std::span<std::byte> bytes) {
    ssize_t count;
    do count = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    while (count < 0 && errno == EINTR);
    return checked(count, name_);
  };
}

void DescriptorSink::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write", name_);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void dress_as(int fd, const fs::path& path, const struct stat& model) {
  struct stat there {};
  const struct stat& like = ::stat(path.c_str(), &there) == 0 ? there : model;
  // The owner first: changing it may take bits from the mode. Who may not change it keeps it.
  if (::fchown(fd, like.st_uid, like.st_gid) != 0 && errno != EPERM) fail("own", path.string());
  if (::fchmod(fd, like.st_mode & 07777) != 0) fail("set the mode of", path.string());
}

void write_whole(const fs::path& path, const std::function<void(ByteSink&)>& write) {
  struct stat there {};
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) fail("open", path.string());
    const std::unique_ptr<const int, void (*)(const int*)> closing(
        &fd, [](const int* open) { ::close(*open); });
    DescriptorSink sink(fd, path.string());
    write(sink);
    return;
  }
  replace_file(path, write, [&](int fd) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    struct stat usual {};
    usual.st_mode = 0666 & ~mask;
    usual.st_uid = ::geteuid(), usual.st_gid = ::getegid();
    dress_as(fd, path, usual);
  });
}

}  // namespace weir
