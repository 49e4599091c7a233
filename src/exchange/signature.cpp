// Signatures: written by librsync, and read without trust.
//
// Inside the container, or alone as rdiff writes it; numbers are big-endian:
//
//    0  4  magic: 72 73 01 and 47 Rabin-Karp and BLAKE2, 46 Rabin-Karp and MD4,
//                              37 rollsum and BLAKE2,    36 rollsum and MD4
//    4  4  bytes of a block
//    8  4  bytes of a strong sum
//   12  .  of each block: 4 bytes weak sum, then the strong one
//
// The reader looks at the header before librsync does, which takes a buffer as long as a block;
// and at the sums, because many different ones under one weak sum would make its table slow.
#include "exchange/signature.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "exchange/block_size.hpp"
#include "exchange/container.hpp"
#include "exchange/file_hash.hpp"
#include "exchange/librsync_job.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::size_t header_bytes = 12, weak_bytes = 4;
constexpr std::uint32_t most_believed_block = 64 << 20;
constexpr std::size_t most_alike = 1000;  // different blocks under one weak sum

rs_magic_number magic_of(RollingSum rolling, StrongSum hash) {
  if (rolling == RollingSum::RabinKarp)
    return hash == StrongSum::Blake2 ? RS_RK_BLAKE2_SIG_MAGIC : RS_RK_MD4_SIG_MAGIC;
  return hash == StrongSum::Blake2 ? RS_BLAKE2_SIG_MAGIC : RS_MD4_SIG_MAGIC;
}
bool known(std::uint32_t magic) {
  return magic == RS_RK_BLAKE2_SIG_MAGIC || magic == RS_RK_MD4_SIG_MAGIC ||
         magic == RS_BLAKE2_SIG_MAGIC || magic == RS_MD4_SIG_MAGIC;
}
bool is_md4(std::uint32_t magic) {
  return magic == RS_RK_MD4_SIG_MAGIC || magic == RS_MD4_SIG_MAGIC;
}
bool is_rabin_karp(std::uint32_t magic) {
  return magic == RS_RK_BLAKE2_SIG_MAGIC || magic == RS_RK_MD4_SIG_MAGIC;
}
constexpr std::uint32_t md4_bytes = 16;

std::uint32_t big_endian(const std::byte* at) {
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | std::to_integer<std::uint32_t>(at[i]);
  return number;
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::BadState, "the signature is damaged: " + why);
}

// Follows the sums as they go by.
class SumsGate {
 public:
  SumsGate(std::uint32_t strong, bool suspicious) : sums_(strong), suspicious_(suspicious) {}
  void add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const std::size_t count = std::min(bytes.size(), weak_bytes + sums_ - held_);
      std::memcpy(entry_ + held_, bytes.data(), count);
      held_ += count;
      bytes = bytes.subspan(count);
      if (held_ < weak_bytes + sums_) continue;
      held_ = 0;
      ++blocks_;
      if (suspicious_)
        seen_.push_back(std::uint64_t{big_endian(entry_)} << 32 |
                        (XXH3_64bits(entry_ + weak_bytes, sums_) & UINT32_MAX));
    }
  }
  std::uint64_t finish() {
    if (held_ > 0) refuse("it ends early");
    if (blocks_ > INT32_MAX) refuse("it has too many blocks");  // librsync counts in an int
    std::sort(seen_.begin(), seen_.end());
    seen_.erase(std::unique(seen_.begin(), seen_.end()), seen_.end());
    for (std::size_t i = most_alike; i < seen_.size(); ++i)
      if (seen_[i] >> 32 == seen_[i - most_alike] >> 32) refuse("its weak sums are all alike");
    seen_ = {};
    return blocks_;
  }

 private:
  std::size_t sums_, held_ = 0;
  bool suspicious_;
  std::uint64_t blocks_ = 0;
  std::byte entry_[weak_bytes + full_strong];
  std::vector<std::uint64_t> seen_;
};

class CountingSink final : public ByteSink {
 public:
  explicit CountingSink(ByteSink& out) : out_(out) {}
  void write(std::span<const std::byte> bytes) override {
    out_.write(bytes);
    count += bytes.size();
  }
  std::uint64_t count = 0;

 private:
  ByteSink& out_;
};

}  // namespace

SignatureStats write_signature(const ReadSome& old, ByteSink& out,
                               const SignatureOptions& options) {
  const std::uint32_t longest = options.hash == StrongSum::Md4 ? md4_bytes : full_strong;
  SignatureStats stats;
  stats.block = options.block > 0 ? options.block : block_for(options.old_size);
  stats.strong = options.strong > 0 ? options.strong
                 : options.rdiff    ? longest
                                    : strong_for(options.old_size, stats.block, safety_of_files);
  if (stats.strong > longest) {
    if (options.strong > 0)
      throw Error(ErrorCode::Config,
                  "a strong sum has at most " + std::to_string(longest) + " bytes");
    stats.strong = longest;
  }
  if (stats.block > most_believed_block)
    throw Error(ErrorCode::Config,
                "a block has at most " + std::to_string(most_believed_block) + " bytes");

  CountingSink counted(out);
  std::optional<ContainerWriter> container;
  if (!options.rdiff) container.emplace(counted, Contents::Signature);
  ByteSink& inside = container ? static_cast<ByteSink&>(*container) : counted;
  FileHash hash;
  LibrsyncJob job(rs_sig_begin(stats.block, stats.strong, magic_of(options.rolling, options.hash)),
                  "the signature");
  job.run(
      [&](std::span<std::byte> bytes) {
        const std::size_t count = old(bytes);
        if (container) hash.add(bytes.first(count));
        stats.old_size += count;
        return count;
      },
      window_for(stats.block), [&](std::span<const std::byte> bytes) { inside.write(bytes); });
  if (container) container->seal(hash.sum());
  stats.blocks = (stats.old_size + stats.block - 1) / stats.block;
  stats.bytes_written = counted.count;
  return stats;
}

Signature Signature::read(const ReadSome& bytes) {
  ContainerReader container(bytes, Contents::Signature);
  std::byte header[header_bytes];
  for (std::size_t have = 0; have < header_bytes;) {
    const std::size_t count = container.read(std::span(header).subspan(have));
    if (count == 0) refuse("it ends early");
    have += count;
  }
  auto loaded = std::make_unique<Loaded>();
  loaded->magic = big_endian(header);
  loaded->block = big_endian(header + 4);
  loaded->strong = big_endian(header + 8);
  if (!known(loaded->magic)) refuse("its sums are of an unknown kind");
  if (loaded->block == 0 || loaded->block > most_believed_block)
    refuse("blocks of " + std::to_string(loaded->block) + " bytes");
  if (loaded->strong == 0 || loaded->strong > (is_md4(loaded->magic) ? md4_bytes : full_strong))
    refuse("strong sums of " + std::to_string(loaded->strong) + " bytes");

  // The older rolling sum is so weak that honest files can have many blocks alike.
  SumsGate gate(loaded->strong, is_rabin_karp(loaded->magic));
  rs_signature_t* sums = nullptr;
  LibrsyncJob job(rs_loadsig_begin(&sums), "the signature");
  std::size_t given = 0;
  const auto feed = [&](std::span<std::byte> to) -> std::size_t {
    if (given < header_bytes) {
      const std::size_t count = std::min(to.size(), header_bytes - given);
      std::memcpy(to.data(), header + given, count);
      given += count;
      return count;
    }
    const std::size_t count = container.read(to);
    gate.add(to.first(count));
    return count;
  };
  try {
    job.run(feed, std::size_t{64} << 10, [](std::span<const std::byte>) {});
  } catch (...) {
    if (sums != nullptr) rs_free_sumset(sums);
    throw;
  }
  loaded->sums.reset(sums);
  loaded->blocks = gate.finish();
  loaded->basis = container.finish();
  if (loaded->basis) {
    const std::uint64_t n = loaded->basis->size;
    if (loaded->blocks != n / loaded->block + (n % loaded->block != 0 ? 1 : 0))
      refuse("it has not as many blocks as the file it was made of");
  }
  if (rs_build_hash_table(sums) != RS_DONE)
    throw Error(ErrorCode::NoMemory, "not enough memory for the signature");
  return Signature(std::move(loaded));
}

Signature::Signature(std::unique_ptr<Loaded> loaded) : loaded_(std::move(loaded)) {}
Signature::Signature(Signature&&) noexcept = default;
Signature& Signature::operator=(Signature&&) noexcept = default;
Signature::~Signature() = default;

const std::optional<FileSum>& Signature::basis() const noexcept { return loaded_->basis; }
std::uint64_t Signature::blocks() const noexcept { return loaded_->blocks; }
std::uint32_t Signature::block() const noexcept { return loaded_->block; }
std::uint32_t Signature::strong() const noexcept { return loaded_->strong; }
RollingSum Signature::rolling() const noexcept {
  return is_rabin_karp(loaded_->magic) ? RollingSum::RabinKarp : RollingSum::Rollsum;
}
StrongSum Signature::hash() const noexcept {
  return is_md4(loaded_->magic) ? StrongSum::Md4 : StrongSum::Blake2;
}

}  // namespace weir
