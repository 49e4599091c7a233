// A file, pipe or descriptor that records are written to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir {

class Output {
 public:
  // A descriptor that stays open; `name` is for messages.
  Output(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  // A file: emptied, or cut back to `keep` bytes and gone on with.
  static Output create(const std::string& file);
  static Output go_on(const std::string& file, std::uint64_t keep, bool open_record);

  // Of go_on(), before the first write.
  void cut_back();

  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  // Whole records, of which the last one may lack its terminator; it gets one when more
  // follows that does not continue it. Throws Error(Io).
  void write(std::string_view records, bool unterminated, char terminator, bool continues = false);
  // Safe on the disk when this returns, where the output is a file.
  void sync();
  // Reports what only closing finds.
  void close();

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool open_record() const noexcept { return open_record_; }
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  void write_all(std::string_view bytes);

  int fd_;
  std::string name_;
  bool owned_ = false, created_ = false;
  bool open_record_ = false;  // the last record came without its terminator
  std::uint64_t bytes_ = 0;
};

}  // namespace weir
