// Files as the exchange reads and writes them.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>

#include "checkpoint/replace_file.hpp"
#include "weir/sync.hpp"

namespace weir {

// A file, open for reading. Errors name it.
class InputFile {
 public:
  // A regular file, which can be read from any place. Throws Error(Io).
  explicit InputFile(const std::filesystem::path& path);
  // A pipe or device as well; "-" is standard input.
  static InputFile any(const std::string& name);
  // Takes the descriptor over; `name` is for messages.
  InputFile(int fd, std::string name);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  // Bytes of a regular file, else 0.
  [[nodiscard]] std::uint64_t size() const noexcept {
    return S_ISREG(status_.st_mode) ? static_cast<std::uint64_t>(status_.st_size) : 0;
  }
  [[nodiscard]] const struct stat& status() const noexcept { return status_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Valid as long as the file.
  [[nodiscard]] ReadSome reader() const;
  [[nodiscard]] ReadAt reader_at() const;

 private:
  int fd_;
  std::string name_;
  struct stat status_ {};
};

// A descriptor as a sink; `name` is for messages.
class DescriptorSink final : public ByteSink {
 public:
  DescriptorSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  void write(std::span<const std::byte> bytes) override;

 private:
  int fd_;
  std::string name_;
};

// Mode and owner, where the system allows it, of the file at `path`, or else those of `model`.
void dress_as(int fd, const std::filesystem::path& path, const struct stat& model);

// The file as a whole or not at all, with the usual mode; a device or pipe is written straight.
void write_whole(const std::filesystem::path& path, const std::function<void(ByteSink&)>& write);

}  // namespace weir
