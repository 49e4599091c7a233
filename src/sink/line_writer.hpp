// Writes lines to a file descriptor through one buffer.
#pragma once

#include <string_view>
#include <vector>

namespace weir {

class LineWriter {
 public:
  explicit LineWriter(int fd);
  // A line that came without newline gets one only if something follows it.
  void write(std::string_view mark, std::string_view line);
  void flush();

 private:
  static constexpr std::size_t buffer_bytes = 256 << 10;
  void append(std::string_view bytes);

  int fd_;
  bool open_line_ = false;
  std::vector<char> buffer_;
};

}  // namespace weir
