#include "sink/line_writer.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "weir/error.hpp"

namespace weir {

LineWriter::LineWriter(int fd) : fd_(fd) { buffer_.reserve(buffer_bytes); }

void LineWriter::write(std::string_view mark, std::string_view line) {
  if (open_line_) append("\n");
  append(mark);
  append(line);
  open_line_ = line.empty() || line.back() != '\n';
}

void LineWriter::append(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  if (bytes.size() > buffer_bytes) buffer_.reserve(bytes.size());
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void LineWriter::flush() {
  for (std::size_t done = 0; done < buffer_.size();) {
    const ssize_t n = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw Error(ErrorCode::Io, std::string("cannot write the output: ") + std::strerror(errno));
    done += static_cast<std::size_t>(n);
  }
  buffer_.clear();
}

}  // namespace weir
