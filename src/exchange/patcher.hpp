// Carries out the commands of a delta: copies from the old file, literals as they come. Every place
// and length is held against the files' sizes first.
#pragma once

#include <algorithm>
#include <vector>

#include "exchange/delta_commands.hpp"
#include "exchange/file_hash.hpp"
#include "weir/error.hpp"

namespace weir {

class Patcher {
 public:
  // Refuses to write more than `most` bytes.
  Patcher(const ReadAt& old, std::uint64_t old_size, ByteSink& out, std::uint64_t most)
      : old_(old), old_size_(old_size), out_(out), most_(most), buffer_(buffer_bytes) {}

  // Commands: next(), copy() and literal() as of DeltaCommands.
  template <class Commands>
  void run(Commands& commands, const char* beyond_the_end) {
    using What = DeltaCommands::Kind;
    for (What kind; (kind = commands.next()) != What::End;) {
      if (kind == What::Literal) {
        literal(commands.literal());
        continue;
      }
      const auto [at, length] = commands.copy();
      if (at > old_size_ || length > old_size_ - at)
        throw Error(ErrorCode::BadState, beyond_the_end);
      copy(at, length);
    }
  }
  void literal(std::span<const std::byte> bytes) {
    stats_.literal += bytes.size();
    write(bytes);
  }
  void copy(std::uint64_t at, std::uint64_t length) {
    stats_.copied += length;
    while (length > 0) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(length, buffer_bytes));
      const std::size_t count = old_(at, std::span(buffer_).first(wanted));
      if (count == 0) throw Error(ErrorCode::Io, "the old file became shorter while it was read");
      write(std::span<const std::byte>(buffer_).first(count));
      at += count, length -= count;
    }
  }
  // With the sum of all that was written; once, at the end.
  PatchStats finish() {
    stats_.fresh = hash_.sum();
    return stats_;
  }

 private:
  static constexpr std::size_t buffer_bytes = 256 << 10;
  void write(std::span<const std::byte> bytes) {
    if (bytes.size() > most_ - hash_.size())
      throw Error(ErrorCode::BadState, "the delta is damaged: it writes too much");
    hash_.add(bytes);
    out_.write(bytes);
  }

  const ReadAt& old_;
  std::uint64_t old_size_;
  ByteSink& out_;
  std::uint64_t most_;
  FileHash hash_;
  std::vector<std::byte> buffer_;
  PatchStats stats_;
};

}  // namespace weir
