// source -> key -> hash -> filter -> sink, in its simplest form: one thread, a batch at a time.
#include "weir/dedup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "sink/line_writer.hpp"
#include "source/line_reader.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::size_t batch = 1024;

class Input {
 public:
  explicit Input(const std::string& name)
      : fd_(name == "-" ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw Error(ErrorCode::Io, "cannot open " + name + ": " + std::strerror(errno));
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

std::string_view key_of(std::string_view line) {
  if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  return line;
}

class Run {
 public:
  Run(Filter& filter, const DedupOptions& options)
      : filter_(filter), options_(options), writer_(options.output) {}

  void read(const std::string& name) {
    const Input input(name);
    LineReader reader(input.fd(), name == "-" ? "standard input" : name);
    for (;;) {
      const auto& lines = reader.next(batch);
      if (lines.empty()) return;
      judge(lines);
    }
  }
  void finish() { writer_.flush(); }
  DedupStats stats;

 private:
  void judge(const std::vector<std::string_view>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) keys_[i] = key_of(lines[i]);
    const auto digests = std::span(digests_).first(lines.size());
    const auto verdicts = std::span(verdicts_).first(lines.size());
    filter_.digester()(std::span(keys_).first(lines.size()), digests);
    filter_.observe(digests, verdicts);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool fresh = verdicts[i] == Verdict::New;
      stats.bytes += lines[i].size();
      stats.first += fresh;
      if (options_.mark)
        writer_.write(fresh ? "0\t" : "1\t", lines[i]);
      else if (fresh)
        writer_.write("", lines[i]);
    }
    stats.records += lines.size();
  }

  Filter& filter_;
  const DedupOptions& options_;
  LineWriter writer_;
  std::array<std::string_view, batch> keys_;
  std::array<Digest, batch> digests_;
  std::array<Verdict, batch> verdicts_;
};

}  // namespace

DedupStats dedup(Filter& filter, const DedupOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Run run(filter, options);
  for (const std::string& name : options.inputs) run.read(name);
  run.finish();
  run.stats.repeats = run.stats.records - run.stats.first;
  run.stats.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run.stats;
}

}  // namespace weir
