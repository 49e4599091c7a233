// A second reading of the snapshot format, written from the drawing above the loader: takes a
// snapshot apart, lets every field be changed, and puts it together with correct checksums.
// For the tests and the fuzzer of the loader.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "weir/snapshot.hpp"

namespace weir::test {

using Bytes = std::vector<std::byte>;

class BytesSink final : public ByteSink {
 public:
  void write(std::span<const std::byte> more) override {
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  Bytes bytes;
};

inline Bytes snapshot_of(const Structure& structure) {
  BytesSink sink;
  write_snapshot(structure, sink);
  return std::move(sink.bytes);
}

inline StructurePtr structure_of(std::span<const std::byte> snapshot,
                                 SnapshotInfo* info = nullptr) {
  SpanSource source(snapshot);
  return read_snapshot(source, info);
}

struct Forgery {
  static constexpr std::size_t block = 256 << 10;

  struct Header {
    char magic[8];
    std::uint32_t version, header_bytes;
    std::uint64_t total_bytes, payload_bytes;
    std::uint32_t shards, registers;  // registers a shard
    std::int64_t saved_at;
    std::uint64_t seed;
    std::uint16_t name_bytes, parameter_bytes;
    std::uint8_t hash, zero[3];
    std::byte secret[192];
  };
  static_assert(sizeof(Header) == 256);

  Header header;
  std::string name, parameters;
  Bytes payload;
  std::vector<std::uint64_t> registers;  // of all shards

  // Takes a valid snapshot apart.
  explicit Forgery(std::span<const std::byte> snapshot) {
    std::memcpy(&header, snapshot.data(), sizeof header);
    const auto* const text = reinterpret_cast<const char*>(snapshot.data()) + sizeof header;
    name.assign(text, header.name_bytes);
    parameters.assign(text + header.name_bytes, header.parameter_bytes);
    auto rest = snapshot.subspan(header.header_bytes);
    while (payload.size() < header.payload_bytes) {
      const auto n = std::min<std::size_t>(block, header.payload_bytes - payload.size());
      payload.insert(payload.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n));
      rest = rest.subspan(n + 8);
    }
    registers.resize(std::size_t{header.shards} * header.registers);
    std::memcpy(registers.data(), rest.data(), registers.size() * 8);
  }
  explicit Forgery(const Structure& structure) : Forgery(snapshot_of(structure)) {}

  // The sizes in the header follow from the content again.
  Forgery& fit() {
    header.name_bytes = static_cast<std::uint16_t>(name.size());
    header.parameter_bytes = static_cast<std::uint16_t>(parameters.size());
    header.header_bytes = static_cast<std::uint32_t>(header_room() + 8);
    header.payload_bytes = payload.size();
    header.total_bytes = header.header_bytes + payload.size() +
                         (payload.size() + block - 1) / block * 8 + registers.size() * 8 + 8;
    return *this;
  }

  // The file, with correct checksums whatever the header says.
  [[nodiscard]] Bytes sealed() const {
    Bytes out;
    std::string text(reinterpret_cast<const char*>(&header), sizeof header);
    text += name + parameters;
    text.resize(header_room(), '\0');
    append(out, text.data(), text.size());
    std::vector<std::uint64_t> sums = {XXH3_64bits_withSeed(text.data(), text.size(), 0)};
    append(out, &sums.back(), 8);
    for (std::size_t at = 0, i = 0; at < payload.size(); at += block, ++i) {
      const std::size_t n = std::min(block, payload.size() - at);
      sums.push_back(XXH3_64bits_withSeed(payload.data() + at, n, i));
      append(out, payload.data() + at, n);
      append(out, &sums.back(), 8);
    }
    append(out, registers.data(), registers.size() * 8);
    sums.insert(sums.end(), registers.begin(), registers.end());
    const std::uint64_t overall = XXH3_64bits(sums.data(), sums.size() * 8);
    append(out, &overall, 8);
    return out;
  }

 private:
  [[nodiscard]] std::size_t header_room() const {
    return (sizeof header + name.size() + parameters.size() + 7) / 8 * 8;
  }
  static void append(Bytes& out, const void* from, std::size_t n) {
    const auto* const bytes = static_cast<const std::byte*>(from);
    out.insert(out.end(), bytes, bytes + n);
  }
};

// Gives bytes of any content a correct size and correct checksums, as far as their own header
// says where these are.
inline void reseal(Bytes& bytes) {
  Forgery::Header h;
  if (bytes.size() < sizeof h) return;
  std::memcpy(&h, bytes.data(), sizeof h);
  const auto put = [&](std::size_t at, std::uint64_t value) {
    std::memcpy(bytes.data() + at, &value, 8);
  };
  put(16, bytes.size());
  std::size_t at = h.header_bytes;
  if (at < sizeof h + 8 || at > bytes.size() || h.payload_bytes > bytes.size() - at) return;
  std::vector<std::uint64_t> sums = {XXH3_64bits_withSeed(bytes.data(), at - 8, 0)};
  put(at - 8, sums.back());
  for (std::uint64_t left = h.payload_bytes, i = 0; left != 0; ++i) {
    const auto n = std::min<std::uint64_t>(left, Forgery::block);
    if (bytes.size() - at < n + 8) return;
    sums.push_back(XXH3_64bits_withSeed(bytes.data() + at, n, i));
    put(at + n, sums.back());
    at += n + 8;
    left -= n;
  }
  if (bytes.size() - at < 8) return;
  XXH3_state_t all;
  XXH3_64bits_reset(&all);
  XXH3_64bits_update(&all, sums.data(), sums.size() * 8);
  XXH3_64bits_update(&all, bytes.data() + at, bytes.size() - at - 8);
  put(bytes.size() - 8, XXH3_64bits_digest(&all));
}

}  // namespace weir::test
