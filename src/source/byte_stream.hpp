// The bytes of one input, decompressed where its first bytes say that it is compressed.
//
//   1f 8b         gzip, one member or several
//   28 b5 2f fd   zstd, one frame or several (skippable ones too)
//
// A stream that ends too early (a truncated gzip, a file that shrank while it was read) is an
// error, never a quiet end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace weir {

// What ends a wait for bytes: one of two descriptors becomes readable (-1: never), or time is up.
struct Waiting {
  int stop_fds[2] = {-1, -1};
  int timeout_ms = -1;  // -1: as long as it takes
};

class ByteStream {
 public:
  enum class Got : std::uint8_t { Bytes, End, Stop, Timeout };

  virtual ~ByteStream() = default;
  // Up to `room` bytes to `to`, at least one for Got::Bytes. Throws Error(Io).
  virtual Got read(char* to, std::size_t room, std::size_t& count, const Waiting& waiting) = 0;
  // Passes over bytes, where the input can do it faster than by reading. False: it cannot.
  virtual bool seek(std::uint64_t bytes) = 0;
  // What was read can be read again from the beginning.
  [[nodiscard]] virtual bool is_file() const = 0;
  // Bytes of the input itself taken so far, and in all (0: unknown). For progress.
  [[nodiscard]] virtual std::uint64_t taken() const = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

// "-" is standard input. Throws Error(Io) where it cannot be opened or is a directory.
std::unique_ptr<ByteStream> open_bytes(const std::string& name, bool decompress);

// How people call it: "standard input" or the name.
std::string shown_name(const std::string& name);

}  // namespace weir
