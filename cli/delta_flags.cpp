#include "delta_flags.hpp"

#include <poll.h>
#include <unistd.h>

#include "exchange/files.hpp"
#include "source/byte_stream.hpp"
#include "weir/error.hpp"

namespace weir::cli {

void DeltaFlags::declare_output(Command& command) {
  command.file("-o,--output", output, "Write to FILE instead of standard output")
      .more("The file is replaced as a whole, when all is done. `-` is standard output.");
}

void DeltaFlags::declare_rdiff(Command& command, const char* lacking) {
  command.toggle("--rdiff", rdiff, "Write what rdiff(1) reads").more(lacking);
}

void DeltaFlags::declare_stats(Command& command, const char* contents) {
  command
      .choice("--stats", stats, "FORM", {{"text", "text"}, {"json", "json"}},
              "Say afterwards on stderr what was done")
      .bare("text")
      .more(contents);
  command.toggle("-q,--quiet", quiet, "No progress line");
}

void DeltaFlags::write(const std::function<void(ByteSink&)>& write) const {
  if (!output.empty() && output != "-") return write_whole(output, write);
  if (::isatty(STDOUT_FILENO) != 0)
    throw Error(ErrorCode::Config,
                "the result is not for a terminal; give -o FILE, or redirect the output");
  DescriptorSink sink(STDOUT_FILENO, "the output");
  write(sink);
}

bool EndInOrder::came() const {
  pollfd stop{signals_.fd(), POLLIN, 0};
  return ::poll(&stop, 1, 0) == 1;
}

void EndInOrder::check() const {
  if (came()) throw Error(ErrorCode::Io, "stopped by a signal");
}

ReadSome EndInOrder::watch(ReadSome in) {
  return [this, read = std::move(in)](std::span<std::byte> bytes) {
    check();
    return read(bytes);
  };
}

EndInOrder::~EndInOrder() {
  if (came()) signals_.end_by_it();
}

void rethrow_naming(const std::string& file) {
  try {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::BadState) throw;
    throw Error(ErrorCode::BadState, shown_name(file) + ": " + error.what());
  }
}

}  // namespace weir::cli
