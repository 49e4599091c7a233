#include "exchange/intersect_words.hpp"

#include <algorithm>

namespace weir::words {
namespace {

[[noreturn]] void garbage() {
  throw Error(ErrorCode::Io, "the other side sends garbage instead of keys");
}

constexpr int most_window_log = 23;  // of a stream that we decompress: 8 MiB

}  // namespace

void put_own(const KeySet& set, const Channel& channel, std::chrono::steady_clock::time_point begin,
             IntersectStats& stats) {
  stats.records = set.records();
  stats.bad = set.bad();
  stats.first_bad = set.first_bad();
  stats.readings = set.readings();
  stats.sent = channel.sent(), stats.received = channel.received();
  stats.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

KeyWriter::KeyWriter(Hand hand)
    : hand_(std::move(hand)), zstd_(ZSTD_createCCtx(), &ZSTD_freeCCtx), out_(piece_bytes) {
  if (!zstd_) throw std::bad_alloc();
}

void KeyWriter::put(std::string_view key) {
  char length[10];
  std::size_t count = 0;
  for (std::uint64_t rest = key.size();; rest >>= 7) {
    length[count++] = static_cast<char>((rest & 127) | (rest >= 128 ? 128 : 0));
    if (rest < 128) break;
  }
  press({length, count}, ZSTD_e_continue);
  press(key, ZSTD_e_continue);
}
void KeyWriter::flush() { press({}, ZSTD_e_flush); }
void KeyWriter::end() { press({}, ZSTD_e_end); }

void KeyWriter::press(std::string_view bytes, ZSTD_EndDirective how) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    const std::size_t left = ZSTD_compressStream2(zstd_.get(), &out, &in, how);
    if (ZSTD_isError(left) != 0)
      throw Error(ErrorCode::Io, std::string("zstd: ") + ZSTD_getErrorName(left));
    if (out.pos > 0) hand_(std::as_bytes(std::span(out_.data(), out.pos)));
    if (how == ZSTD_e_continue ? in.pos == in.size : left == 0) return;
  }
}

KeyReader::KeyReader(std::uint64_t longest, Take take)
    : longest_(longest),
      take_(std::move(take)),
      zstd_(ZSTD_createDCtx(), &ZSTD_freeDCtx),
      out_(piece_bytes) {
  if (!zstd_) throw std::bad_alloc();
  ZSTD_DCtx_setParameter(zstd_.get(), ZSTD_d_windowLogMax, most_window_log);
}

void KeyReader::feed(std::span<const std::byte> piece) {
  ZSTD_inBuffer in{piece.data(), piece.size(), 0};
  for (bool more = true; more;) {
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    if (ZSTD_isError(ZSTD_decompressStream(zstd_.get(), &out, &in)) != 0) garbage();
    cut({out_.data(), out.pos});
    more = in.pos < in.size || out.pos == out.size;
  }
}

void KeyReader::cut(std::string_view bytes) {
  while (!bytes.empty()) {
    if (missing_ > 0) {
      const std::uint64_t part = std::min<std::uint64_t>(missing_, bytes.size());
      if (length_ <= longest_) key_.append(bytes.substr(0, part));
      bytes.remove_prefix(part);
      missing_ -= part;
      if (missing_ == 0) finish();
      continue;
    }
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (!in_length_) length_ = 0, shift_ = 0, in_length_ = true;
    if (shift_ > 56) garbage();
    length_ |= static_cast<std::uint64_t>(byte & 127) << shift_;
    shift_ += 7;
    if (byte >= 128) continue;
    in_length_ = false;
    missing_ = length_;
    key_.clear();
    if (missing_ == 0) finish();
  }
}

void KeyReader::finish() {
  ++keys_;
  if (length_ <= longest_) take_(key_);
}

}  // namespace weir::words
