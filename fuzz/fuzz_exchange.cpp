// Any words of the other side, behind a proper greeting: the conversation ends with the answer or
// with an Error(Io) or Error(BadState), and nothing else. The first byte says which side we are.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "exchange/intersect_words.hpp"
#include "exchange/message.hpp"
#include "weir/error.hpp"
#include "weir/intersect.hpp"

namespace {

using namespace weir;

std::string keys_file() {
  std::string name = (std::filesystem::temp_directory_path() / "weir-fuzz-XXXXXX").string();
  ::close(::mkstemp(name.data()));
  std::ofstream out(name);
  for (int i = 0; i < 64; ++i) out << "key " << i * i << '\n';
  return name;
}

void write_all(int fd, std::span<const std::byte> bytes) {
  // A socket's buffer holds more than any input of a fuzzer.
  if (::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string file = keys_file();
  if (size == 0 || size > 60'000) return 0;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  MessageWriter hello, all;
  hello.put(std::string_view("intersect")).put(words::version).put(60.0);
  hello.put(std::string_view("fuzz"));
  all.raw(std::as_bytes(std::span("WEIRXCHG", 8))).put(std::uint8_t{Channel::Hello});
  all.put(static_cast<std::uint32_t>(hello.size())).raw(hello.bytes());
  write_all(ends[1], all.bytes());
  write_all(ends[1], std::as_bytes(std::span(data, size)).subspan(1));
  ::shutdown(ends[1], SHUT_WR);
  IntersectOptions options;
  options.records.inputs = {file};
  options.records.output_fd = -1;
  options.write = IntersectOptions::Write::Nothing;
  options.memory = 1 << 16;
  try {
    Channel channel(ends[0], ends[0], "the fuzzer", {.timeout = 0.2});
    if (data[0] % 2 == 0)
      intersect(channel, options);
    else
      serve_intersect(channel, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Io && error.code() != ErrorCode::BadState) std::abort();
  }
  ::close(ends[1]);
  return 0;
}
