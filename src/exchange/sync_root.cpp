#include "exchange/sync_root.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <utility>

#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::int64_t second = 1'000'000'000;

// Rounded down, as times before 1970 need it.
timespec time_of(std::int64_t nanoseconds) {
  std::int64_t whole = nanoseconds / second, rest = nanoseconds % second;
  if (rest < 0) rest += second, --whole;
  return {.tv_sec = whole, .tv_nsec = rest};
}

}  // namespace

bool is_inner_name(std::string_view name) {
  if (name.empty() || name.size() >= PATH_MAX || name.find('\0') != name.npos) return false;
  for (std::size_t from = 0; from <= name.size();) {
    const std::size_t to = std::min(name.find('/', from), name.size());
    const std::string_view part = name.substr(from, to - from);
    if (part.empty() || part == "." || part == ".." || part.size() > NAME_MAX) return false;
    from = to + 1;
  }
  return true;
}

SyncRoot::SyncRoot(const std::filesystem::path& folder) : shown_(folder.string()) {
  fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) throw Error(ErrorCode::Io, "cannot open " + shown_ + ": " + std::strerror(errno));
}

SyncRoot::~SyncRoot() {
  if (recent_ >= 0) ::close(recent_);
  ::close(fd_);
}

void SyncRoot::fail(const char* what, const std::string& name) const {
  const int error = errno;
  throw Error(ErrorCode::Io, std::string("cannot ") + what + " " + shown_ + "/" + name + ": " +
                                 std::strerror(error));
}

// A new descriptor.
int SyncRoot::open_folder(std::string_view name) {
  int fd = ::fcntl(fd_, F_DUPFD_CLOEXEC, 3);
  for (std::size_t from = 0; fd >= 0 && from < name.size();) {
    const std::size_t to = std::min(name.find('/', from), name.size());
    const std::string part(name.substr(from, to - from));
    const int next = ::openat(fd, part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int error = errno;
    ::close(fd);
    errno = error;
    fd = next;
    from = to + 1;
  }
  return fd;
}

SyncRoot::Place SyncRoot::place(const std::string& name) {
  if (!is_inner_name(name))
    throw Error(ErrorCode::Io, "'" + name + "' is no name inside a folder; it is refused");
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return {fd_, name.c_str()};
  const std::string_view folder = std::string_view(name).substr(0, slash);
  if (recent_ < 0 || folder != recent_name_) {
    const int fd = open_folder(folder);
    if (fd < 0) fail("open the folder of", name);
    if (recent_ >= 0) ::close(recent_);
    recent_ = fd;
    recent_name_ = folder;
  }
  return {recent_, name.c_str() + slash + 1};
}

std::optional<struct stat> SyncRoot::look(const std::string& name) {
  const auto [folder, last] = place(name);
  struct stat status {};
  if (::fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW) == 0) return status;
  if (errno == ENOENT) return {};
  fail("look at", name);
}

InputFile SyncRoot::open(const std::string& name) {
  const auto [folder, last] = place(name);
  // O_NONBLOCK: a pipe that took the file's place must not be waited for.
  const int fd = ::openat(folder, last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail("open", name);
  InputFile file(fd, shown_ + "/" + name);
  if (!S_ISREG(file.status().st_mode))
    throw Error(ErrorCode::Io, "cannot read " + file.name() + ": it is no longer a file");
  return file;
}

std::string SyncRoot::link_target(const std::string& name) {
  const auto [folder, last] = place(name);
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(folder, last, target, sizeof target);
  if (size < 0) fail("read", name);
  return {target, static_cast<std::size_t>(size)};
}

std::vector<std::string> SyncRoot::list(const std::string& folder) {
  const int fd = open_folder(folder);
  DIR* const opened = fd < 0 ? nullptr : ::fdopendir(fd);
  if (opened == nullptr) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    errno = error;
    fail("read", folder);
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(opened, &::closedir);
  ::rewinddir(stream.get());
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* const entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) fail("read", folder);
  return names;
}

void SyncRoot::make_folder(const std::string& name) {
  const auto [folder, last] = place(name);
  // Ours to work in until its own mode is set, in the end.
  if (::mkdirat(folder, last, 0700) != 0) fail("make", name);
}

void SyncRoot::make_link(const std::string& name, const std::string& target) {
  const auto [folder, last] = place(name);
  const std::string temporary = ".weir-sync." + std::to_string(::getpid()) + ".link";
  ::unlinkat(folder, temporary.c_str(), 0);
  if (::symlinkat(target.c_str(), folder, temporary.c_str()) != 0) fail("make", name);
  if (::renameat(folder, temporary.c_str(), folder, last) == 0) return;
  const int error = errno;
  ::unlinkat(folder, temporary.c_str(), 0);
  errno = error;
  fail("replace", name);
}

void SyncRoot::remove(const std::string& name, bool is_folder) {
  const auto [folder, last] = place(name);
  if (::unlinkat(folder, last, is_folder ? AT_REMOVEDIR : 0) != 0) fail("remove", name);
  // A name in the way of what was removed may now lead elsewhere.
  if (is_folder && recent_ >= 0) ::close(std::exchange(recent_, -1));
}

void SyncRoot::set_mode(const std::string& name, mode_t mode) {
  const auto [folder, last] = place(name);
  // By descriptor, since fchmodat() follows links.
  const int fd = ::openat(folder, last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail("open", name);
  const int result = ::fchmod(fd, mode & 0777);
  const int error = errno;
  ::close(fd);
  errno = error;
  if (result != 0) fail("set the mode of", name);
}

void SyncRoot::set_time(const std::string& name, std::int64_t nanoseconds) {
  const auto [folder, last] = place(name);
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time_of(nanoseconds)};
  if (::utimensat(folder, last, times, AT_SYMLINK_NOFOLLOW) != 0) fail("set the time of", name);
}

void SyncRoot::sync_folder(const std::string& folder) {
  const int fd = open_folder(folder);
  if (fd < 0) fail("open", folder);
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  errno = error;
  if (result != 0) fail("sync", folder);
}

void SyncRoot::sync_all() {
  if (::syncfs(fd_) != 0) fail("sync", "");
}

template <class Make>
void SyncRoot::Pending::named(const Make& make) {
  static std::atomic<std::uint64_t> count = 0;
  // The next number, where a run that was killed has left its file.
  for (int i = 0; i < 1000; ++i) {
    const std::string free =
        ".weir-sync." + std::to_string(::getpid()) + "." + std::to_string(count++);
    if (make(free.c_str())) {
      temporary_ = free;
      return;
    }
    if (errno != EEXIST) break;
  }
  root_->fail("write beside", name_);
}

SyncRoot::Pending::Pending(SyncRoot& root, std::string name)
    : root_(&root), name_(std::move(name)) {
  const int folder = root_->place(name_).folder;
  fd_ = ::openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
  if (fd_ >= 0) return;
  named([&](const char* free) {
    fd_ = ::openat(folder, free, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd_ >= 0;
  });
}

SyncRoot::Pending::Pending(Pending&& other) noexcept
    : root_(other.root_),
      name_(std::move(other.name_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)) {}

SyncRoot::Pending::~Pending() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (temporary_.empty()) return;
  try {
    ::unlinkat(root_->place(name_).folder, temporary_.c_str(), 0);
  } catch (const Error&) {  // its folder is gone, and it with it
  }
}

void SyncRoot::Pending::dress(mode_t mode, std::int64_t nanoseconds) {
  if (::fchmod(fd_, mode & 0777) != 0) root_->fail("set the mode of", name_);
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time_of(nanoseconds)};
  if (::futimens(fd_, times) != 0) root_->fail("set the time of", name_);
  ::sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE);
}

void SyncRoot::Pending::place(bool durable) {
  if (durable && ::fsync(fd_) != 0) root_->fail("sync", name_);
  const auto [folder, last] = root_->place(name_);
  if (temporary_.empty()) {
    const std::string self = "/proc/self/fd/" + std::to_string(fd_);
    named([&, in = folder](const char* free) {
      return ::linkat(AT_FDCWD, self.c_str(), in, free, AT_SYMLINK_FOLLOW) == 0;
    });
  }
  if (::renameat(folder, temporary_.c_str(), folder, last) != 0) root_->fail("replace", name_);
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0) root_->fail("close", name_);
}

}  // namespace weir
