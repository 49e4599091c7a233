// The snapshot format, version 1. Little-endian.
//
//   offset  bytes  what
//   0       8      magic "WEIRSNAP"
//   8       4      format version
//   12      4      H, bytes of this header, its checksum included
//   16      8      bytes of the whole snapshot
//   24      8      P, payload bytes: the cells of all shards
//   32      4      shards
//   36      4      R, registers a shard
//   40      8      saved at, seconds since 1970
//   48      8      seed
//   56      2      length of the structure's name
//   58      2      length of the parameters
//   60      1      hash: 1 XXH3-64, 2 SipHash-2-4
//   61      3      zero
//   64      192    secret
//   256     ...    name, parameters as "k=3,M=65536", zeros up to a multiple of 8
//   H-8     8      checksum of the H-8 bytes before
//   H       ...    payload in blocks of 256 KiB (the last may be shorter), each followed by
//                  8 bytes of checksum, seeded with the block's number
//   ...     8 R    a shard: registers (counters, generator state), shard after shard
//   end-8   8      checksum over all: of the header's checksum, the blocks' checksums and
//                  the registers
//
// Checksums are XXH3-64: they find damage, not malice. So nothing read is believed: every size
// is checked against the bytes present before memory is asked for, parameters pass the same
// checks as those of a command line, and the structure verifies its registers against its
// cells. What a forger with correct checksums can achieve is a valid structure of his choice.
#include "weir/snapshot.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <chrono>
#include <cstring>
#include <string>

#include "checkpoint/snapshot_pieces.hpp"
#include "core/catalog.hpp"

namespace weir {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is the memory's layout");

constexpr char magic[8] = {'W', 'E', 'I', 'R', 'S', 'N', 'A', 'P'};
constexpr std::uint32_t newest_version = 1;
constexpr std::uint64_t block_bytes = 256 << 10;
constexpr std::size_t max_text = 1024;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::BadState, why); }

std::span<const std::byte> bytes_of(const auto& value) {
  return std::as_bytes(std::span(&value, 1));
}
std::span<std::byte> writable_bytes_of(auto& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t blocks_of(std::uint64_t payload) { return (payload + block_bytes - 1) / block_bytes; }

std::uint64_t total_bytes(const FixedHeader& h) {
  return h.header_bytes + h.payload_bytes + 8 * blocks_of(h.payload_bytes) +
         std::uint64_t{8} * h.shards * h.registers + 8;
}

std::uint32_t header_bytes(std::size_t name, std::size_t parameters) {
  return static_cast<std::uint32_t>(round_up(sizeof(FixedHeader) + name + parameters, 8) + 8);
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

FixedHeader describe(const Structure& structure, std::size_t name, std::size_t parameters,
                     std::int64_t saved_at) {
  FixedHeader h{};
  std::memcpy(h.magic, magic, sizeof magic);
  h.version = newest_version;
  h.header_bytes = header_bytes(name, parameters);
  h.payload_bytes = structure.payload().size();
  h.shards = structure.shards();
  h.registers = static_cast<std::uint32_t>(SnapshotAccess::registers_a_shard(structure));
  h.saved_at = saved_at;
  h.seed = structure.seed();
  h.name_bytes = static_cast<std::uint16_t>(name);
  h.parameter_bytes = static_cast<std::uint16_t>(parameters);
  h.hash = static_cast<std::uint8_t>(structure.digester().kind());
  h.secret = structure.digester().secret();
  h.total_bytes = total_bytes(h);
  return h;
}

// Refuses a header that contradicts itself or the number of bytes present.
void check_sizes(const FixedHeader& h, std::uint64_t present) {
  if (std::memcmp(h.magic, magic, sizeof magic) != 0) refuse("this is not a weir state file");
  if (h.version > newest_version || h.version == 0)
    refuse("this state has format version " + std::to_string(h.version) +
           "; this weir reads versions 1 to " + std::to_string(newest_version));
  if (h.total_bytes != present)
    refuse("the state is damaged: it should have " + std::to_string(h.total_bytes) +
           " bytes and has " + std::to_string(present));
  const bool sane = h.name_bytes <= max_text && h.parameter_bytes <= max_text &&
                    h.header_bytes == header_bytes(h.name_bytes, h.parameter_bytes) &&
                    h.shards >= 1 && h.shards <= max_shards && h.registers <= max_registers &&
                    h.payload_bytes <= present && total_bytes(h) == present &&
                    (h.hash == 1 || h.hash == 2) && h.zero[0] == 0 && h.zero[1] == 0 &&
                    h.zero[2] == 0;
  if (!sane) refuse("the state is damaged: the sizes in its header contradict each other");
}

// An empty structure as the header describes it, made only if its cells are as large as the
// payload that is really there.
StructurePtr make_described(const FixedHeader& h, const std::string& name,
                            const std::string& parameters, std::uint64_t most_memory) {
  const StructureEntry* const entry = find_entry(name);
  if (entry == nullptr)
    refuse(
        "the state holds a structure that this weir does not know; it may come from a newer one");
  try {
    const Params params = Params::parse(parameters);
    params.require_known(*entry);
    const std::uint64_t cells = entry->payload_bytes(params);
    if (cells > h.payload_bytes || cells * h.shards != h.payload_bytes)
      refuse("the state is damaged: its parameters do not fit its size");
    const std::uint64_t memory = h.payload_bytes + entry->overhead(h.shards);
    if (memory > most_memory)
      refuse("the state's structure takes " + std::to_string(memory) + " bytes, more than the " +
             std::to_string(most_memory) + " that are allowed");
    StructurePtr made =
        entry->create(params, Making{h.shards, h.seed,
                                     Digester::from_secret(static_cast<HashKind>(h.hash), h.secret),
                                     Kernel::Auto});
    if (made->parameters() != parameters || made->payload().size() != h.payload_bytes ||
        SnapshotAccess::registers_a_shard(*made) != h.registers)
      refuse("the state is damaged: its parameters do not fit its size");
    return made;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Config) throw;
    refuse(std::string("the state is damaged: ") + error.what());
  }
}

}  // namespace

void SpanSource::read(std::span<std::byte> bytes) {
  if (bytes.size() > all_.size()) refuse("the state is damaged: it ends early");
  std::copy_n(all_.begin(), bytes.size(), bytes.begin());
  all_ = all_.subspan(bytes.size());
}

SnapshotWriter::SnapshotWriter(const Structure& structure, std::optional<std::int64_t> saved_at)
    : structure_(structure),
      parameters_(structure.parameters()),
      h_(describe(structure, std::strlen(structure.info().name), parameters_.size(),
                  saved_at ? *saved_at : now())) {}

void SnapshotWriter::write_piece(ByteSink& sink) {
  if (!started_) {
    write_header(sink);
    started_ = true;
  } else if (at_ < h_.payload_bytes) {
    const auto block =
        structure_.payload().subspan(at_, std::min(block_bytes, h_.payload_bytes - at_));
    const std::uint64_t sum = checksum(block, at_ / block_bytes);
    sink.write(block);
    sink.write(bytes_of(sum));
    overall_.add(bytes_of(sum));
    at_ += block.size();
  } else {
    std::array<std::uint64_t, max_registers> values;
    const auto registers = std::span(values).first(h_.registers);
    for (std::uint32_t shard = 0; shard < h_.shards; ++shard) {
      SnapshotAccess::read_registers(structure_, shard, registers);
      sink.write(std::as_bytes(registers));
      overall_.add(std::as_bytes(registers));
    }
    sink.write(bytes_of(overall_.value()));
    done_ = true;
  }
}

void SnapshotWriter::write_header(ByteSink& sink) {
  std::string header(reinterpret_cast<const char*>(&h_), sizeof h_);
  header += structure_.info().name + parameters_;
  header.resize(h_.header_bytes - 8, '\0');
  const std::uint64_t sum = checksum(std::as_bytes(std::span(header)), 0);
  sink.write(std::as_bytes(std::span(header)));
  sink.write(bytes_of(sum));
  overall_.add(bytes_of(sum));
}

std::span<std::byte> SnapshotReader::room() {
  switch (stage_) {
    case Stage::Head:
      return writable_bytes_of(h_);
    case Stage::Text:
      return std::as_writable_bytes(std::span(header_)).subspan(sizeof h_);
    case Stage::Block:
      return block();
    case Stage::Registers:
      return std::as_writable_bytes(std::span(registers_).first(h_.registers));
    case Stage::BlockSum:
    case Stage::AllSum:
      return writable_bytes_of(sum_);
    case Stage::Done:
      break;
  }
  return {};
}

void SnapshotReader::filled() {
  switch (stage_) {
    case Stage::Head:
      check_sizes(h_, present_.value_or(h_.total_bytes));
      header_.assign(reinterpret_cast<const char*>(&h_), sizeof h_);
      header_.resize(h_.header_bytes);
      stage_ = Stage::Text;
      break;
    case Stage::Text:
      make_structure();
      stage_ = Stage::Block;
      break;
    case Stage::Block:
      stage_ = Stage::BlockSum;
      return;
    case Stage::BlockSum:
      if (sum_ != checksum(block(), at_ / block_bytes))
        refuse("the state is damaged: block " + std::to_string(at_ / block_bytes) +
               " does not match its checksum");
      overall_.add(bytes_of(sum_));
      at_ += block().size();
      stage_ = Stage::Block;
      break;
    case Stage::Registers: {
      const auto registers = std::span(registers_).first(h_.registers);
      overall_.add(std::as_bytes(registers));
      SnapshotAccess::write_registers(*structure_, shard_++, registers);
      break;
    }
    case Stage::AllSum:
      finish();
      stage_ = Stage::Done;
      return;
    case Stage::Done:
      return;
  }
  if (stage_ == Stage::Block && block().empty()) stage_ = Stage::Registers;
  if (stage_ == Stage::Registers && (shard_ == h_.shards || h_.registers == 0))
    stage_ = Stage::AllSum;
}

std::span<std::byte> SnapshotReader::block() {
  const auto payload = SnapshotAccess::payload(*structure_);
  return payload.subspan(at_, std::min(block_bytes, payload.size() - at_));
}

void SnapshotReader::make_structure() {
  std::memcpy(&sum_, header_.data() + h_.header_bytes - 8, 8);
  if (sum_ != checksum(std::as_bytes(std::span(header_)).first(h_.header_bytes - 8), 0))
    refuse("the state is damaged: its header does not match its checksum");
  const std::size_t text = h_.name_bytes + h_.parameter_bytes;
  if (header_.find_first_not_of('\0', sizeof h_ + text) < h_.header_bytes - 8)
    refuse("the state is damaged: its header holds more than it says");
  structure_ =
      make_described(h_, header_.substr(sizeof h_, h_.name_bytes),
                     header_.substr(sizeof h_ + h_.name_bytes, h_.parameter_bytes), most_memory_);
  overall_.add(bytes_of(sum_));
}

void SnapshotReader::finish() {
  if (sum_ != overall_.value())
    refuse("the state is damaged: the checksum over all does not match");
  try {
    SnapshotAccess::verify(*structure_);
  } catch (const Error& error) {
    refuse(std::string("the state is not valid: ") + error.what());
  }
}

std::uint64_t snapshot_bytes(const Structure& structure) {
  return SnapshotWriter(structure, 0).size();
}

void write_snapshot(const Structure& structure, ByteSink& sink) {
  SnapshotWriter writer(structure, {});
  while (!writer.done()) writer.write_piece(sink);
}

StructurePtr read_snapshot(ByteSource& source, SnapshotInfo* info, std::uint64_t most_memory) {
  if (source.size() < sizeof(FixedHeader))
    refuse(source.size() == 0 ? "the state is empty" : "this is not a whole weir state file");
  SnapshotReader reader(source.size(), most_memory);
  while (!reader.done()) {
    source.read(reader.room());
    reader.filled();
  }
  if (info != nullptr) *info = reader.info();
  return std::move(reader).structure();
}

StructurePtr copy_of(const Structure& structure) {
  const StructureEntry* const entry = find_entry(structure.info().name);
  StructurePtr copy = entry->create(
      Params::parse(structure.parameters()),
      Making{structure.shards(), structure.seed(), structure.digester(), Kernel::Auto});
  const auto cells = structure.payload();
  std::memcpy(SnapshotAccess::payload(*copy).data(), cells.data(), cells.size());
  std::array<std::uint64_t, max_registers> values;
  const auto registers = std::span(values).first(SnapshotAccess::registers_a_shard(structure));
  for (std::uint32_t shard = 0; shard < structure.shards(); ++shard) {
    SnapshotAccess::read_registers(structure, shard, registers);
    SnapshotAccess::write_registers(*copy, shard, registers);
  }
  return copy;
}

}  // namespace weir
