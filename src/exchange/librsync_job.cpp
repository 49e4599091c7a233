#include "exchange/librsync_job.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::size_t out_bytes = 64 << 10;

[[noreturn]] void refuse(const char* what, rs_result result) {
  if (result == RS_MEM_ERROR)
    throw Error(ErrorCode::NoMemory, std::string("not enough memory for ") + what);
  throw Error(ErrorCode::BadState,
              std::string(what) + " is damaged: " +
                  (result == RS_INPUT_ENDED ? "it ends early" : "librsync refuses it"));
}

}  // namespace

LibrsyncJob::LibrsyncJob(rs_job_t* job, const char* what) : job_(job, &rs_job_free), what_(what) {
  // By itself librsync writes warnings and errors to stderr.
  static const bool silent = (rs_trace_to(nullptr), true);
  static_cast<void>(silent);
  if (job == nullptr) refuse(what, RS_MEM_ERROR);
}

void LibrsyncJob::run(const ReadSome& in, std::size_t in_bytes,
                      const std::function<void(std::span<const std::byte>)>& out) {
  std::vector<std::byte> input(in_bytes), output(out_bytes);
  rs_buffers_t buffers{};
  buffers.next_in = reinterpret_cast<char*>(input.data());
  for (;;) {
    if (buffers.eof_in == 0 && buffers.avail_in < input.size()) {
      std::memmove(input.data(), buffers.next_in, buffers.avail_in);
      buffers.next_in = reinterpret_cast<char*>(input.data());
      const std::size_t count = in(std::span(input).subspan(buffers.avail_in));
      buffers.avail_in += count;
      buffers.eof_in = count == 0 ? 1 : 0;
    }
    buffers.next_out = reinterpret_cast<char*>(output.data());
    buffers.avail_out = output.size();
    const std::size_t had_in = buffers.avail_in;
    const rs_result result = rs_job_iter(job_.get(), &buffers);
    const std::size_t written = output.size() - buffers.avail_out;
    if (written > 0) out(std::span<const std::byte>(output).first(written));
    if (result == RS_DONE) {
      if (buffers.avail_in > 0) refuse(what_, RS_CORRUPT);
      return;
    }
    if (result != RS_BLOCKED) refuse(what_, result);
    // Nothing taken, nothing given, nothing to come: it would wait for ever.
    const bool no_more_in = buffers.eof_in != 0 || buffers.avail_in == input.size();
    if (no_more_in && written == 0 && buffers.avail_in == had_in) refuse(what_, RS_INPUT_ENDED);
  }
}

}  // namespace weir
