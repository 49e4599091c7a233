// State on disk: one format, one loader.
//
// A state loads whole and valid or is refused with one sentence. Saving and loading stream
// in blocks straight from and into the structure's memory, so a 4 GiB filter needs no second
// 4 GiB. The byte layout is drawn in src/checkpoint/snapshot.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "weir/catalog.hpp"

namespace weir {

// Where snapshot bytes go to and come from; throw Error(Io) when they cannot.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
};
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills all of `bytes`.
  virtual void read(std::span<std::byte> bytes) = 0;
  // Bytes there are in all. The loader believes no size that the bytes do not bear out.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

// A snapshot held in memory.
class SpanSource final : public ByteSource {
 public:
  explicit SpanSource(std::span<const std::byte> bytes) : all_(bytes), size_(bytes.size()) {}
  void read(std::span<std::byte> bytes) override;
  [[nodiscard]] std::uint64_t size() const override { return size_; }

 private:
  std::span<const std::byte> all_;
  std::uint64_t size_;
};

struct SnapshotInfo {
  std::uint32_t version = 0;
  std::uint64_t bytes = 0;    // of the whole snapshot
  std::int64_t saved_at = 0;  // seconds since 1970, UTC
};

// Bytes write_snapshot will write.
std::uint64_t snapshot_bytes(const Structure& structure);
void write_snapshot(const Structure& structure, ByteSink& sink);
// Throws Error(BadState) for anything that is not a whole, valid snapshot.
StructurePtr read_snapshot(ByteSource& source, SnapshotInfo* info = nullptr);

// Replaces the file atomically: a temporary file beside it (mode 0600, for it holds the
// secret), fsync, rename, fsync of the folder. On failure the old file stays as it was.
void save(const Structure& structure, const std::filesystem::path& path);
StructurePtr load(const std::filesystem::path& path, SnapshotInfo* info = nullptr);
FilterPtr load_filter(const std::filesystem::path& path, SnapshotInfo* info = nullptr);

}  // namespace weir
