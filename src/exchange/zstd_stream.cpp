#include "exchange/zstd_stream.hpp"

#include <new>

#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::size_t buffer_bytes = 64 << 10;
constexpr int widest_window =
    23;  // 8 MiB, what level 19 takes; a frame that asks for more is not ours

}  // namespace

ZstdWriter::ZstdWriter(ByteSink& out, int level)
    : out_(out), context_(ZSTD_createCCtx(), &ZSTD_freeCCtx), buffer_(buffer_bytes) {
  if (!context_) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
}

void ZstdWriter::push(std::span<const std::byte> bytes, ZSTD_EndDirective how) {
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer output{buffer_.data(), buffer_.size(), 0};
    const std::size_t left = ZSTD_compressStream2(context_.get(), &output, &input, how);
    if (ZSTD_isError(left) != 0)
      throw Error(ErrorCode::Io, std::string("cannot compress: ") + ZSTD_getErrorName(left));
    if (output.pos > 0) out_.write(std::span<const std::byte>(buffer_).first(output.pos));
    if (how == ZSTD_e_continue ? input.pos == input.size : left == 0) return;
  }
}

void ZstdReader::refuse(const char* why) const {
  throw Error(ErrorCode::BadState, std::string(what_) + " is damaged: " + why);
}

ZstdReader::ZstdReader(ReadSome in, const char* what)
    : in_(std::move(in)),
      what_(what),
      context_(ZSTD_createDCtx(), &ZSTD_freeDCtx),
      buffer_(buffer_bytes) {
  if (!context_) throw std::bad_alloc();
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, widest_window);
}

std::size_t ZstdReader::read(std::span<std::byte> bytes) {
  if (done_) return 0;
  ZSTD_outBuffer output{bytes.data(), bytes.size(), 0};
  while (output.pos == 0) {
    const std::size_t had = input_.pos;
    const std::size_t left = ZSTD_decompressStream(context_.get(), &output, &input_);
    if (ZSTD_isError(left) != 0) refuse("it cannot be decompressed");
    if (left == 0) {
      done_ = true;
      if (input_.pos < input_.size || in_(buffer_) > 0) refuse("bytes follow behind its end");
      break;
    }
    if (output.pos > 0) break;
    if (input_.pos < input_.size && input_.pos > had) continue;
    input_ = {buffer_.data(), in_(buffer_), 0};
    if (input_.size == 0) refuse("it ends early");
  }
  return output.pos;
}

}  // namespace weir
