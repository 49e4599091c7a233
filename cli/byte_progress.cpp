#include "byte_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "sizes.hpp"

namespace weir::cli {
namespace {

// What would steer the terminal becomes '?'.
std::string harmless(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return text;
}

}  // namespace

ByteProgress::ByteProgress(bool quiet) : silent_(quiet || ::isatty(STDERR_FILENO) == 0) {}

ByteProgress::~ByteProgress() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

ReadSome ByteProgress::watch(ReadSome in, std::uint64_t total) {
  if (silent_) return in;
  return [this, total, read = std::move(in)](std::span<std::byte> bytes) {
    const std::size_t count = read(bytes);
    read_ += count;
    at(read_, total);
    return count;
  };
}

void ByteProgress::at(std::uint64_t bytes, std::uint64_t total, const std::string& what) {
  const auto now = Clock::now();
  if (silent_ || now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  const double rate = static_cast<double>(bytes) / std::max(seconds(), 1e-9);
  std::string line =
      fmt::format("{}, {}/s", show_bytes(bytes), show_bytes(static_cast<std::uint64_t>(rate)));
  if (total > 0)
    line = fmt::format("{:3.0f} %  {}",
                       100 * std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total)),
                       line);
  if (!what.empty()) line += "  " + harmless(what);
  fmt::print(stderr, "\r{:.79}\x1b[K", line);
  std::fflush(stderr);
  shown_ = true;
}

double ByteProgress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - began_).count();
}

}  // namespace weir::cli
