// The checkpoint's way to what a structure keeps private.
#pragma once

#include "weir/filter.hpp"

namespace weir {

class SnapshotAccess {
 public:
  static std::span<std::byte> payload(Structure& s) { return s.mutable_payload(); }
  static std::size_t registers_a_shard(const Structure& s) { return s.registers_a_shard(); }
  static void read_registers(const Structure& s, std::uint32_t shard,
                             std::span<std::uint64_t> out) {
    s.read_registers(shard, out);
  }
  static void write_registers(Structure& s, std::uint32_t shard,
                              std::span<const std::uint64_t> in) {
    s.write_registers(shard, in);
  }
  static void verify(const Structure& s) { s.verify(); }
};

}  // namespace weir
