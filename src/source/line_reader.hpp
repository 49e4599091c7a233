// Cuts a file descriptor's bytes into lines without copying them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

class LineReader {
 public:
  // `name` is for messages.
  LineReader(int fd, std::string name);

  // Up to `most` complete lines, newline included where there is one; empty at the end. They are
  // valid until the next call. Throws Error(Io).
  const std::vector<std::string_view>& next(std::size_t most);

 private:
  static constexpr std::size_t buffer_bytes = 256 << 10;
  void refill();

  int fd_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // bytes not given out yet
  std::size_t searched_ = 0;         // no newline in [begin_, searched_)
  bool ended_ = false;
  std::vector<std::string_view> lines_;
};

}  // namespace weir
