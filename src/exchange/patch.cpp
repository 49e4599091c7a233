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
#include "exchange/patcher.hpp"
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

class WatchedSink final : public ByteSink {
 public:
  WatchedSink(ByteSink& out, const PatchOptions& options) : out_(out), options_(options) {}
  void write(std::span<const std::byte> bytes) override {
    if (options_.progress) options_.progress(written_);
    written_ += bytes.size();
    out_.write(bytes);
  }

 private:
  ByteSink& out_;
  const PatchOptions& options_;
  std::uint64_t written_ = 0;
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

  WatchedSink watched(out, options);
  Patcher patcher(old, old_size, watched, options.most);  // (2)
  const ReadSome inside = [&](std::span<std::byte> bytes) { return container.read(bytes); };
  if (container.of_rdiff()) {
    DeltaCommands commands(inside);
    commands.begin();
    patcher.run(commands,
                "the delta copies from behind the end of the old file: it was made for another "
                "one, or is damaged");
  } else {
    ZstdReader unpacked(inside, "the delta");
    DeltaCommands commands([&](std::span<std::byte> bytes) { return unpacked.read(bytes); });
    commands.begin();
    patcher.run(commands, "the delta is damaged: it copies from behind the end of the old file");
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
                      const std::filesystem::path& destination, const PatchOptions& options) {
  const InputFile basis(old);
  PatchStats stats;
  replace_file(
      destination,
      [&](ByteSink& out) {
        stats = apply_delta(basis.reader_at(), basis.size(), delta, out, options);
      },
      [&](int fd) { dress_as(fd, destination, basis.status()); });
  return stats;
}

}  // namespace weir
