// The container around a signature or a delta of librsync, so that nothing is taken for what it is
// not. Numbers are little-endian; both can be written to a pipe in one pass.
//
//   signature                                 delta
//    0  8  "WEIRSIG\n"                         0  8  "WEIRDLT\n"
//    8  4  version: 1                          8  4  version: 1
//   12  4  0                                  12  4  1: the old file's sum is known; 0: it is not
//                                             16  8  size of the old file, or 0
//                                             24 32  BLAKE2b-256 of the old file, or 0
//   16  .  what rdiff writes (signature.cpp)  56  .  one zstd frame with what rdiff writes
//                                                    (delta_commands.hpp)
//    .  8  size of the old file                .  8  size of the new file
//    . 32  BLAKE2b-256 of it                   . 32  BLAKE2b-256 of it
//    .  8  XXH3-64 of everything before        .  8  XXH3-64 of everything before
//
// What begins with the bytes of an rdiff file is read as one: it has no trailer and no check.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "weir/snapshot.hpp"
#include "weir/sync.hpp"

namespace weir {

enum class Contents : std::uint8_t { Signature, Delta };

// XXH3-64 of bytes that come in pieces.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class ContainerWriter final : public ByteSink {
 public:
  // Writes the header.
  ContainerWriter(ByteSink& out, Contents contents, const std::optional<FileSum>& basis = {});
  void write(std::span<const std::byte> bytes) override;
  // The trailer, behind the last byte.
  void seal(const FileSum& sum);
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  ByteSink& out_;
  Checksum checksum_;
  std::uint64_t bytes_ = 0;
};

class ContainerReader {
 public:
  // Reads the header. Throws Error(BadState) for what is not of this kind, rdiff's included.
  ContainerReader(const ReadSome& in, Contents contents);
  [[nodiscard]] bool of_rdiff() const noexcept { return of_rdiff_; }
  [[nodiscard]] const std::optional<FileSum>& basis() const noexcept { return basis_; }
  // The inside; 0 at its end.
  std::size_t read(std::span<std::byte> bytes);
  // Behind the last byte: checks the trailer. Nothing where rdiff wrote it.
  std::optional<FileSum> finish();
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  void fill(std::size_t wanted);
  std::span<const std::byte> take(std::size_t count);
  [[noreturn]] void refuse(const char* why) const;

  const ReadSome& in_;
  Contents contents_;
  bool of_rdiff_ = false, ended_ = false;
  std::optional<FileSum> basis_;
  Checksum checksum_;
  std::vector<std::byte> buffer_;
  std::size_t from_ = 0, to_ = 0;  // what of the buffer is not given out yet
  std::uint64_t bytes_read_ = 0;
};

}  // namespace weir
