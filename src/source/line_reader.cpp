#include "source/line_reader.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "weir/error.hpp"

namespace weir {

LineReader::LineReader(int fd, std::string name)
    : fd_(fd), name_(std::move(name)), buffer_(buffer_bytes) {}

const std::vector<std::string_view>& LineReader::next(std::size_t most) {
  lines_.clear();
  while (lines_.empty()) {
    while (lines_.size() < most) {
      const void* const newline = std::memchr(buffer_.data() + searched_, '\n', end_ - searched_);
      if (newline == nullptr) {
        searched_ = end_;
        break;
      }
      const auto after =
          static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data()) + 1;
      lines_.emplace_back(buffer_.data() + begin_, after - begin_);
      begin_ = searched_ = after;
    }
    if (!lines_.empty()) break;
    if (ended_) {
      if (begin_ < end_) lines_.emplace_back(buffer_.data() + begin_, end_ - begin_);
      begin_ = searched_ = end_;
      break;
    }
    refill();
  }
  return lines_;
}

void LineReader::refill() {
  if (begin_ > 0) {  // the started line moves to the front
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_, searched_ -= begin_, begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);  // a line longer than the buffer
  for (;;) {
    const ssize_t n = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(ErrorCode::Io, "cannot read " + name_ + ": " + std::strerror(errno));
    ended_ = n == 0;
    end_ += static_cast<std::size_t>(n);
    return;
  }
}

}  // namespace weir
