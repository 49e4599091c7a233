// A snapshot a piece after the other; the format is drawn in snapshot.cpp. There is one writer and
// one loader: whole files and what comes in pieces go through these.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>

#include "checkpoint/snapshot_access.hpp"
#include "weir/snapshot.hpp"

namespace weir {

inline constexpr std::size_t max_registers = 256;

struct FixedHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t total_bytes;
  std::uint64_t payload_bytes;
  std::uint32_t shards;
  std::uint32_t registers;
  std::int64_t saved_at;
  std::uint64_t seed;
  std::uint16_t name_bytes;
  std::uint16_t parameter_bytes;
  std::uint8_t hash;
  std::uint8_t zero[3];
  Digester::Secret secret;
};
static_assert(sizeof(FixedHeader) == 256);

class Overall {  // the checksum over all
 public:
  Overall() { XXH3_64bits_reset(&state_); }
  void add(std::span<const std::byte> bytes) {
    XXH3_64bits_update(&state_, bytes.data(), bytes.size());
  }
  [[nodiscard]] std::uint64_t value() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

class SnapshotWriter {
 public:
  SnapshotWriter(const Structure& structure, std::optional<std::int64_t> saved_at);
  [[nodiscard]] std::uint64_t size() const noexcept { return h_.total_bytes; }
  [[nodiscard]] bool done() const noexcept { return done_; }
  void write_piece(ByteSink& sink);

 private:
  void write_header(ByteSink& sink);

  const Structure& structure_;
  std::string parameters_;
  FixedHeader h_;
  Overall overall_;
  bool started_ = false, done_ = false;
  std::uint64_t at_ = 0;  // in the payload
};

// Says where the next bytes belong, so that cells are read straight into the structure:
//   while (!reader.done()) fill(reader.room()), reader.filled();
class SnapshotReader {
 public:
  // present: bytes there are; absent: nobody knows.
  SnapshotReader(std::optional<std::uint64_t> present, std::uint64_t most_memory)
      : present_(present), most_memory_(most_memory) {}
  [[nodiscard]] std::span<std::byte> room();
  void filled();  // throws Error(BadState)
  [[nodiscard]] bool done() const noexcept { return stage_ == Stage::Done; }
  [[nodiscard]] SnapshotInfo info() const { return {h_.version, h_.total_bytes, h_.saved_at}; }
  // As long as there is no structure: what was read of the header, and behind it what was not.
  [[nodiscard]] std::span<const std::byte> header() const {
    return stage_ == Stage::Head ? std::as_bytes(std::span(&h_, 1))
                                 : std::as_bytes(std::span(header_));
  }
  [[nodiscard]] const Structure* peek() const { return structure_.get(); }
  [[nodiscard]] StructurePtr structure() && { return std::move(structure_); }

 private:
  enum class Stage : std::uint8_t { Head, Text, Block, BlockSum, Registers, AllSum, Done };
  std::span<std::byte> block();
  void make_structure();
  void finish();

  std::optional<std::uint64_t> present_;
  std::uint64_t most_memory_;
  Stage stage_ = Stage::Head;
  FixedHeader h_{};
  std::string header_;
  Overall overall_;
  StructurePtr structure_;
  std::uint64_t at_ = 0, sum_ = 0;  // in the payload; the checksum read last
  std::uint32_t shard_ = 0;
  std::array<std::uint64_t, max_registers> registers_{};
};

}  // namespace weir
