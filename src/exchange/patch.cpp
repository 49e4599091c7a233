// Old file and delta to the new file.
//   (1) the delta says which old file it was made for: one of another size is refused at once
//   (2) every command is held against the old file's size, then carried out
//   (3) the trailer's sum decides whether the result is the new file; where it is not, the old
//       file's sum tells whose fault it is
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "exchange/container.hpp"
#include "exchange/delta_commands.hpp"
#include "exchange/file_hash.hpp"
#include "exchange/files.hpp"
#include "exchange/zstd_stream.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::size_t buffer_bytes = 256 << 10;

[[noreturn]] void refuse(const char* sentence) { throw Error(ErrorCode::BadState, sentence); }
constexpr const char* wrong_basis =
    "this is not the old file that the delta was made for: its contents differ";

FileSum sum_of(const ReadAt& file) {
  FileHash hash;
  std::vector<std::byte> buffer(buffer_bytes);
  while (const std::size_t count = file(hash.size(), buffer))
    hash.add(std::span<const std::byte>(buffer).first(count));
  return hash.sum();
}

class Patcher {
 public:
  Patcher(const ReadAt& old, std::uint64_t old_size, ByteSink& out, std::uint64_t most)
      : old_(old), old_size_(old_size), out_(out), most_(most), buffer_(buffer_bytes) {}

  void run(DeltaCommands& commands, bool of_rdiff) {
    using Kind = DeltaCommands::Kind;
    commands.begin();
    for (Kind kind; (kind = commands.next()) != Kind::End;) {
      if (kind == Kind::Literal) {
        stats_.literal += commands.literal().size();
        write(commands.literal());
        continue;
      }
      const auto [at, length] = commands.copy();
      if (at > old_size_ || length > old_size_ - at)
        refuse(of_rdiff ? "the delta copies from behind the end of the old file: it was made for "
                          "another one, or is damaged"
                        : "the delta is damaged: it copies from behind the end of the old file");
      copy(at, length);
    }
  }
  PatchStats finish() {
    stats_.fresh = hash_.sum();
    return stats_;
  }

 private:
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
  void write(std::span<const std::byte> bytes) {
    if (bytes.size() > most_ - hash_.size()) refuse("the delta is damaged: it writes too much");
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

}  // namespace

PatchStats apply_delta(const ReadAt& old, std::uint64_t old_size, const ReadSome& delta,
                       ByteSink& out, const PatchOptions& options) {
  ContainerReader container(delta, Contents::Delta);
  const std::optional<FileSum>& basis = container.basis();
  if (basis && basis->size != old_size)  // (1)
    throw Error(ErrorCode::BadState,
                "this is not the old file that the delta was made for: it has " +
                    std::to_string(old_size) + " bytes, not " + std::to_string(basis->size));
  if (basis && options.basis_first && sum_of(old) != *basis) refuse(wrong_basis);

  Patcher patcher(old, old_size, out, options.most);  // (2)
  const ReadSome inside = [&](std::span<std::byte> bytes) { return container.read(bytes); };
  if (container.of_rdiff()) {
    DeltaCommands commands(inside);
    patcher.run(commands, true);
  } else {
    ZstdReader unpacked(inside, "the delta");
    DeltaCommands commands([&](std::span<std::byte> bytes) { return unpacked.read(bytes); });
    patcher.run(commands, false);
  }
  const std::optional<FileSum> stated = container.finish();
  PatchStats stats = patcher.finish();
  if (stated && *stated != stats.fresh) {  // (3)
    if (basis && sum_of(old) != *basis) refuse(wrong_basis);
    refuse(basis
               ? "two different blocks had the same sums, and the result would be wrong; make the "
                 "signature again with a longer --strong"
               : "the result is not the new file: the old file is another one, or two different "
                 "blocks had the same sums");
  }
  stats.checked = stated.has_value();
  stats.bytes_read = container.bytes_read();
  return stats;
}

PatchStats patch_file(const std::filesystem::path& old, const ReadSome& delta,
                      const std::filesystem::path& destination) {
  const InputFile basis(old);
  PatchStats stats;
  replace_file(
      destination,
      [&](ByteSink& out) { stats = apply_delta(basis.reader_at(), basis.size(), delta, out); },
      [&](int fd) { dress_as(fd, destination, basis.status()); });
  return stats;
}

}  // namespace weir
