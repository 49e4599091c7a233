// The delta: librsync finds the old file's blocks in the new one, zstd packs what it says.
#include <optional>

#include "exchange/container.hpp"
#include "exchange/file_hash.hpp"
#include "exchange/librsync_job.hpp"
#include "exchange/signature.hpp"
#include "exchange/zstd_stream.hpp"

namespace weir {

DeltaStats write_delta(const Signature& signature, const ReadSome& fresh, ByteSink& out,
                       const DeltaOptions& options) {
  DeltaStats stats;
  std::optional<ContainerWriter> container;
  std::optional<ZstdWriter> packed;
  if (!options.rdiff) {
    container.emplace(out, Contents::Delta, signature.basis());
    packed.emplace(*container, options.level);
  }
  std::uint64_t plain = 0;
  FileHash hash;
  LibrsyncJob job(rs_delta_begin(signature.loaded().sums.get()), "the signature");
  job.run(
      [&](std::span<std::byte> bytes) {
        const std::size_t count = fresh(bytes);
        hash.add(bytes.first(count));
        return count;
      },
      window_for(signature.block()),
      [&](std::span<const std::byte> bytes) {
        plain += bytes.size();
        (packed ? static_cast<ByteSink&>(*packed) : out).write(bytes);
      });
  stats.fresh = hash.sum();
  if (packed) {
    packed->end();
    container->seal(stats.fresh);
  }
  const rs_stats_t& found = job.stats();
  stats.copied = static_cast<std::uint64_t>(found.copy_bytes);
  stats.literal = static_cast<std::uint64_t>(found.lit_bytes);
  stats.copies = static_cast<std::uint64_t>(found.copy_cmds);
  stats.bytes_written = container ? container->bytes() : plain;
  return stats;
}

}  // namespace weir
