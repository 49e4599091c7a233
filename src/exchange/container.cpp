#include "exchange/container.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::size_t magic_bytes = 8, trailer_bytes = 48, buffer_bytes = 64 << 10;
constexpr std::uint32_t newest_version = 1;
constexpr const char* magics[] = {"WEIRSIG\n", "WEIRDLT\n"};
constexpr const char* names[] = {"signature", "delta"};

const char* magic_of(Contents contents) { return magics[static_cast<int>(contents)]; }
const char* name_of(Contents contents) { return names[static_cast<int>(contents)]; }

// "rs" and two bytes that say which: 01 and a sum's letter, or 02 36.
std::optional<Contents> rdiff_contents(std::span<const std::byte> first) {
  if (first.size() < 4 || first[0] != std::byte{'r'} || first[1] != std::byte{'s'}) return {};
  if (first[2] == std::byte{1}) return Contents::Signature;
  if (first[2] == std::byte{2} && first[3] == std::byte{0x36}) return Contents::Delta;
  return {};
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

struct Checksum::State {
  XXH3_state_t sum;
};
Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->sum); }
Checksum::~Checksum() = default;
void Checksum::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(&state_->sum, bytes.data(), bytes.size());
}
std::uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->sum); }

ContainerWriter::ContainerWriter(ByteSink& out, Contents contents,
                                 const std::optional<FileSum>& basis)
    : out_(out) {
  write(std::as_bytes(std::span(magic_of(contents), magic_bytes)));
  write(bytes_of(newest_version));
  write(bytes_of(std::uint32_t{basis ? 1U : 0U}));
  if (contents == Contents::Signature) return;
  const FileSum sum = basis.value_or(FileSum{});
  write(bytes_of(sum.size));
  write(sum.hash);
}

void ContainerWriter::write(std::span<const std::byte> bytes) {
  checksum_.add(bytes);
  out_.write(bytes);
  bytes_ += bytes.size();
}

void ContainerWriter::seal(const FileSum& sum) {
  write(bytes_of(sum.size));
  write(sum.hash);
  write(bytes_of(checksum_.value()));
}

ContainerReader::ContainerReader(const ReadSome& in, Contents contents)
    : in_(in), contents_(contents), buffer_(buffer_bytes) {
  fill(magic_bytes);
  const auto first = std::span<const std::byte>(buffer_).first(std::min(to_, magic_bytes));
  for (const Contents one : {Contents::Signature, Contents::Delta}) {
    const bool ours =
        first.size() == magic_bytes && std::memcmp(first.data(), magic_of(one), magic_bytes) == 0;
    if (!ours && rdiff_contents(first) != one) continue;
    if (one != contents_)
      throw Error(ErrorCode::BadState, std::string("this is a ") + name_of(one) + ", not a " +
                                           name_of(contents_) + "; are the files in order?");
    of_rdiff_ = !ours;
    if (of_rdiff_) return;
    take(magic_bytes);
    std::uint32_t version, flags;
    std::memcpy(&version, take(sizeof version).data(), sizeof version);
    if (version > newest_version)
      throw Error(ErrorCode::BadState, std::string("this ") + name_of(one) +
                                           " was written by a newer weir; use that one");
    std::memcpy(&flags, take(sizeof flags).data(), sizeof flags);
    if (version != newest_version || flags > (one == Contents::Delta ? 1U : 0U))
      refuse("its header makes no sense");
    if (one == Contents::Signature) return;
    FileSum basis;
    std::memcpy(&basis.size, take(sizeof basis.size).data(), sizeof basis.size);
    std::memcpy(basis.hash.data(), take(basis.hash.size()).data(), basis.hash.size());
    if (flags == 1)
      basis_ = basis;
    else if (basis != FileSum{})
      refuse("its header makes no sense");
    return;
  }
  throw Error(ErrorCode::BadState,
              std::string("this is no ") + name_of(contents_) + " of weir or rdiff");
}

void ContainerReader::refuse(const char* why) const {
  throw Error(ErrorCode::BadState,
              std::string("the ") + name_of(contents_) + " is damaged: " + why);
}

// Until so many bytes are at hand or the input has ended.
void ContainerReader::fill(std::size_t wanted) {
  if (to_ - from_ >= wanted || ended_) return;
  std::memmove(buffer_.data(), buffer_.data() + from_, to_ - from_);
  to_ -= from_, from_ = 0;
  while (to_ < wanted && !ended_) {
    const std::size_t count = in_(std::span(buffer_).subspan(to_));
    ended_ = count == 0;
    to_ += count;
    bytes_read_ += count;
  }
}

std::span<const std::byte> ContainerReader::take(std::size_t count) {
  fill(count);
  if (to_ - from_ < count) refuse("it ends early");
  const auto taken = std::span<const std::byte>(buffer_).subspan(from_, count);
  checksum_.add(taken);
  from_ += count;
  return taken;
}

std::size_t ContainerReader::read(std::span<std::byte> bytes) {
  const std::size_t held_back = of_rdiff_ ? 0 : trailer_bytes;
  fill(held_back + 1);
  if (to_ - from_ < held_back) refuse("it ends early");
  const std::size_t count = std::min(bytes.size(), to_ - from_ - held_back);
  std::memcpy(bytes.data(), take(count).data(), count);
  return count;
}

std::optional<FileSum> ContainerReader::finish() {
  if (of_rdiff_) return {};
  if (to_ - from_ != trailer_bytes || !ended_) refuse("bytes follow behind its end");
  FileSum sum;
  std::memcpy(&sum.size, take(sizeof sum.size).data(), sizeof sum.size);
  std::memcpy(sum.hash.data(), take(sum.hash.size()).data(), sum.hash.size());
  const std::uint64_t expected = checksum_.value();
  std::uint64_t stated;
  std::memcpy(&stated, take(sizeof stated).data(), sizeof stated);
  if (stated != expected) refuse("its checksum is wrong");
  return sum;
}

}  // namespace weir
