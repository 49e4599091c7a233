#include "sink/output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "checkpoint/folder.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

[[noreturn]] void fail(const char* what, const std::string& name) {
  throw Error(ErrorCode::Io,
              std::string("cannot ") + what + " " + name + ": " + std::strerror(errno));
}

}  // namespace

Output Output::create(const std::string& file) {
  Output output(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), file);
  if (output.fd_ < 0) fail("create", file);
  output.owned_ = output.created_ = true;
  return output;
}

Output Output::go_on(const std::string& file, std::uint64_t keep, bool open_record) {
  Output output(::open(file.c_str(), O_WRONLY | O_CLOEXEC), file);
  if (output.fd_ < 0) fail("open", file);
  output.owned_ = true;
  struct stat status {};
  if (::fstat(output.fd_, &status) != 0) fail("look at", file);
  if (static_cast<std::uint64_t>(status.st_size) < keep)
    throw Error(ErrorCode::Io, file + " has " + std::to_string(status.st_size) +
                                   " bytes, but the job had written " + std::to_string(keep) +
                                   "; it was changed since, so the job cannot go on");
  output.bytes_ = keep;
  output.open_record_ = open_record;
  return output;
}

void Output::cut_back() {
  if (::ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) fail("cut back", name_);
  if (::lseek(fd_, 0, SEEK_END) < 0) fail("go on with", name_);
}

Output::Output(Output&& other) noexcept
    : fd_(other.fd_),
      name_(std::move(other.name_)),
      owned_(std::exchange(other.owned_, false)),
      created_(other.created_),
      open_record_(other.open_record_),
      bytes_(other.bytes_) {}

Output::~Output() {
  if (owned_) ::close(fd_);
}

void Output::write(std::string_view records, bool unterminated, char terminator, bool continues) {
  if (records.empty()) return;
  if (open_record_ && !continues) write_all({&terminator, 1});
  write_all(records);
  open_record_ = unterminated;
}

void Output::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {  // somebody made our pipe non-blocking
      pollfd output{fd_, POLLOUT, 0};
      ::poll(&output, 1, -1);
      continue;
    }
    if (n < 0) fail("write", name_);
    bytes.remove_prefix(static_cast<std::size_t>(n));
    bytes_ += static_cast<std::uint64_t>(n);
  }
}

void Output::sync() {
  // A pipe or terminal cannot be synced.
  if (::fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
    fail("sync", name_);
  if (std::exchange(created_, false)) sync_folder_of(name_);  // the name must last as well
}

void Output::close() {
  if (std::exchange(owned_, false) && ::close(fd_) != 0) fail("close", name_);
}

}  // namespace weir
