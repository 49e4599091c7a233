// zstd as a sink that compresses and a reader that decompresses one frame.
#pragma once

#include <zstd.h>

#include <memory>
#include <vector>

#include "weir/sync.hpp"

namespace weir {

class ZstdWriter final : public ByteSink {
 public:
  ZstdWriter(ByteSink& out, int level);
  void write(std::span<const std::byte> bytes) override { push(bytes, ZSTD_e_continue); }
  // Everything so far can be read by the other side.
  void flush() { push({}, ZSTD_e_flush); }
  // The end of the frame.
  void end() { push({}, ZSTD_e_end); }

 private:
  void push(std::span<const std::byte> bytes, ZSTD_EndDirective how);

  ByteSink& out_;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
  std::vector<std::byte> buffer_;
};

class ZstdReader {
 public:
  // `what` is named in errors: "the delta".
  ZstdReader(ReadSome in, const char* what);
  // 0 at the end of the frame, behind which nothing may follow. Throws Error(BadState).
  std::size_t read(std::span<std::byte> bytes);

 private:
  [[noreturn]] void refuse(const char* why) const;

  ReadSome in_;
  const char* what_;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_;
  std::vector<std::byte> buffer_;
  ZSTD_inBuffer input_{};
  bool done_ = false;
};

}  // namespace weir
