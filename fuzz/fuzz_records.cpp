// Any bytes as records of any kind: nothing crashes, nothing is lost, and the way the bytes are cut
// into chunks changes nothing.
//
// The first bytes choose the options, the rest is the input.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "weir/catalog.hpp"
#include "weir/dedup.hpp"

namespace {

using namespace weir;

class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (fd_ < 0) std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  void write(const std::uint8_t* data, std::size_t size) const {
    if (::pwrite(fd_, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  }
  [[nodiscard]] std::string read() const {
    std::string content(static_cast<std::size_t>(::lseek(fd_, 0, SEEK_END)), '\0');
    if (::pread(fd_, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size()))
      std::abort();
    return content;
  }

 private:
  int fd_;
};

struct Result {
  std::string output, repeats, error;
  DedupStats stats;
};

Result run(DedupOptions options, std::uint64_t chunk) {
  const MemoryFile output, repeats;
  options.chunk_bytes = chunk;
  options.output = output.path();
  options.repeats_file = repeats.path();
  const FilterPtr filter = make_filter(options.window ? "apbf:k=4,l=8,g=0" : "blocked-bloom",
                                       {.memory = 64 << 10, .seed = 1});
  Result result;
  try {
    result.stats = dedup(*filter, options);
  } catch (const Error& error) {
    result.error = error.what();
  }
  result.output = output.read();
  result.repeats = repeats.read();
  return result;
}

DedupOptions choose(std::uint8_t kind, std::uint8_t key, std::uint8_t other) {
  DedupOptions options;
  options.format.kind = static_cast<Records>(kind % 5);
  options.format.width = 1 + other % 40;
  options.format.header = kind < 128;
  options.decompress = (other & 64) != 0;
  options.on_bad = (other & 128) != 0 ? OnBad::Fail : OnBad::Pass;
  options.key.ignore_case = (key & 128) != 0;
  constexpr const char* fields[] = {"", "1", "2,4-5", "3-", "-2", "1,3"};
  const char* const chosen = fields[key % 6];
  switch (options.format.kind) {
    case Records::Csv:
      if (key & 64)
        options.key.columns = {"2"};
      else
        options.key.fields = chosen;
      break;
    case Records::Json:
      if (key & 64) options.key.pointers = {"/a/b"};
      if (key & 32) options.key.pointers.emplace_back("/0");
      break;
    case Records::Fixed:
      break;
    default:
      options.key.fields = chosen;
      if (key & 32) options.key.separator = ';';
      if (other & 32) options.max_record = 100;
  }
  if ((kind & 64) != 0) {  // a window, by time where there is a field for it
    options.window = Window{.length = 8, .step = 1};
    if (options.format.kind != Records::Fixed) {
      options.window->clock = Window::Clock::Event;
      options.key.time = options.format.kind == Records::Json ? "/t" : "1";
    }
  }
  return options;
}

void require(bool truth, const char* what) {
  if (truth) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const MemoryFile input;
  input.write(data + 3, size - 3);
  DedupOptions options = choose(data[0], data[1], data[2]);
  options.inputs = {input.path()};
  const Result whole = run(options, 256 << 10);
  const Result cut = run(options, 64);
  require(whole.error == cut.error, "the error depends on the chunks");
  if (!whole.error.empty() && options.decompress) {
    // How much is decoded before damage is met depends on how much is asked for.
    const auto begins = [](const std::string& a, const std::string& b) {
      return a.starts_with(b) || b.starts_with(a);
    };
    require(begins(whole.output, cut.output), "the output depends on the chunks");
    return 0;
  }
  require(whole.output == cut.output, "the output depends on the chunks");
  require(whole.repeats == cut.repeats, "the repeats depend on the chunks");
  if (!whole.error.empty()) return 0;
  const DedupStats& stats = whole.stats;
  require(!whole.stats.window || (whole.stats.window->now == cut.stats.window->now &&
                                  whole.stats.window->late == cut.stats.window->late),
          "the clock depends on the chunks");
  require(stats.first + stats.repeats + stats.bad == stats.records, "records do not add up");
  // The header is in both files.
  require(whole.output.size() + whole.repeats.size() >= stats.bytes, "bytes were lost");
  return 0;
}
