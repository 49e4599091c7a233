// rsync's algorithm: what has changed in a file, found without having both versions in one place.
//
//   signature of the old file  ->  delta of the new file against it  ->  old file + delta = new
//
// The signature holds two sums of every block of the old file: a weak one that rolls along the new
// file byte by byte, and a strong one that decides. The delta says which blocks to copy and spells
// the rest out. librsync does the rolling and the finding; here come the choice of block and sum
// lengths, the containers with their checks, and limits on what is believed.
//
// Containers (drawn in src/exchange/container.hpp) carry size and BLAKE2b-256 of both files, so
// that a wrong basis or a damaged delta is never mistaken for a result. What rdiff(1) writes is
// read everywhere, and written on demand; it has no such check.
// This header belongs to the library weir-exchange (CMake: weir::exchange).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weir/exchange.hpp"
#include "weir/snapshot.hpp"

namespace weir {

// Up to so many bytes, 0 at the end. Throws Error(Io).
using ReadSome = std::function<std::size_t(std::span<std::byte> bytes)>;
// The same from a place in a file, as pread does.
using ReadAt = std::function<std::size_t(std::uint64_t at, std::span<std::byte> bytes)>;

struct FileSum {
  std::uint64_t size = 0;
  std::array<std::byte, 32> hash{};  // BLAKE2b-256
  bool operator==(const FileSum&) const = default;
};

enum class RollingSum : std::uint8_t { RabinKarp, Rollsum };
enum class StrongSum : std::uint8_t { Blake2, Md4 };

// 0 means: chosen by the size of the old file (src/exchange/block_size.hpp).
struct SignatureOptions {
  std::uint64_t old_size = 0;  // 0: not known
  std::uint32_t block = 0;     // bytes of a block
  std::uint32_t strong = 0;    // bytes kept of its strong sum
  RollingSum rolling = RollingSum::RabinKarp;
  StrongSum hash = StrongSum::Blake2;
  bool rdiff = false;  // as rdiff writes it: no check of the whole file
};

struct SignatureStats {
  std::uint64_t old_size = 0, blocks = 0, bytes_written = 0;
  std::uint32_t block = 0, strong = 0;
};

// Streams the old file once, in little memory.
SignatureStats write_signature(const ReadSome& old, ByteSink& out, const SignatureOptions& options);

// A signature in memory, ready to search: about 60 bytes a block and its strong sum.
class Signature {
 public:
  // Either kind, recognised by its first bytes. Throws Error(BadState).
  static Signature read(const ReadSome& bytes);
  Signature(Signature&&) noexcept;
  Signature& operator=(Signature&&) noexcept;
  ~Signature();

  [[nodiscard]] const std::optional<FileSum>& basis() const noexcept;  // not known of rdiff's
  [[nodiscard]] std::uint64_t blocks() const noexcept;
  [[nodiscard]] std::uint32_t block() const noexcept;
  [[nodiscard]] std::uint32_t strong() const noexcept;
  [[nodiscard]] RollingSum rolling() const noexcept;
  [[nodiscard]] StrongSum hash() const noexcept;

  struct Loaded;
  [[nodiscard]] Loaded& loaded() const noexcept { return *loaded_; }

 private:
  explicit Signature(std::unique_ptr<Loaded> loaded);
  std::unique_ptr<Loaded> loaded_;
};

struct DeltaOptions {
  bool rdiff = false;  // as rdiff writes it: not compressed, no check of the whole file
  int level = 3;       // of zstd
};

struct DeltaStats {
  FileSum fresh;                          // of the new file
  std::uint64_t copied = 0, literal = 0;  // bytes of the new file: found in the old, not found
  std::uint64_t copies = 0, bytes_written = 0;  // commands; bytes of the delta
};

// Streams the new file once.
DeltaStats write_delta(const Signature& signature, const ReadSome& fresh, ByteSink& out,
                       const DeltaOptions& options = {});

struct PatchStats {
  FileSum fresh;
  std::uint64_t copied = 0, literal = 0, bytes_read = 0;
  bool checked = false;  // the delta said what the result must be, and it is
};

struct PatchOptions {
  bool basis_first = false;         // check the old file before the first byte is written
  std::uint64_t most = UINT64_MAX;  // refuse to write more than so many bytes
  // Called with the bytes written so far, before each piece; may throw to end the work.
  std::function<void(std::uint64_t written)> progress{};
};

// Writes the new file. Throws Error(BadState) for a wrong old file and for a delta that is damaged,
// foreign or forged; what was written until then is worthless.
PatchStats apply_delta(const ReadAt& old, std::uint64_t old_size, const ReadSome& delta,
                       ByteSink& out, const PatchOptions& options = {});

// The new file replaces `destination` as a whole, with the mode of the one that was there or else
// of the old file; on any failure it stays as it was. `old` and `destination` may be the same.
PatchStats patch_file(const std::filesystem::path& old, const ReadSome& delta,
                      const std::filesystem::path& destination, const PatchOptions& options = {});

// --- Many files in one exchange -------------------------------------------------------------
//
// The sender has a file or a folder, the receiver a place where the same shall be. What travels is
// drawn in src/exchange/sync_wire.hpp. Names, contents, modes (rwx), times, symbolic links and
// empty folders are taken over; owners, hard links, devices, pipes and extended attributes are not.
// Each file of the receiver is the old or the new one, whole, at any moment; nothing outside its
// folder is touched, whatever the sender says.

struct SyncOptions {
  bool checksum = false;  // do not take equal size and time for an equal file
  bool remove = false;    // remove what the sender has not
  bool dry_run = false;   // change nothing
  bool whole = false;     // send changed files whole, not as deltas
  bool durable = true;    // fsync each file before it takes its place
  std::uint32_t block = 0;
  int level = 3;  // of zstd; 0: not compressed
  // What happens to which name, as it happens.
  std::function<void(std::string_view what, const std::string& name)> note{};
  std::function<void(std::uint64_t done, std::uint64_t total, const std::string& name)> progress{};
};

struct SyncStats {
  std::uint64_t files = 0, bytes = 0;  // of the sender, folders and links included; of its files
  std::uint64_t alike = 0;             // files passed over or found equal
  std::uint64_t made = 0, updated = 0, removed = 0;
  std::uint64_t copied = 0, literal = 0;  // bytes of updated files: found at the receiver, sent
  std::uint64_t again = 0;                // files sent twice, because short sums had agreed wrongly
  std::uint64_t sent = 0, received = 0;   // over the channel
  std::vector<std::string> troubles;      // names that could not be read or placed, with the reason
};

// One side each, after both have connected; they greet first.
SyncStats send_files(Channel& channel, const std::filesystem::path& source,
                     const SyncOptions& options);
SyncStats receive_files(Channel& channel, const std::filesystem::path& destination,
                        const SyncOptions& options);
// Both sides here.
SyncStats sync_files(const std::filesystem::path& source, const std::filesystem::path& destination,
                     const SyncOptions& options);

}  // namespace weir
