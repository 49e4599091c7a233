// weir delta: what is new in a file, against the signature of an old one.
#include <fmt/format.h>

#include <memory>

#include "byte_progress.hpp"
#include "commands.hpp"
#include "delta_flags.hpp"
#include "exchange/files.hpp"
#include "sizes.hpp"
#include "weir/error.hpp"

namespace weir::cli {
namespace {

struct MakeDeltaFlags : DeltaFlags {
  std::string signature, fresh;
  std::uint32_t level = 3;
};

void print_stats(const DeltaStats& stats, double seconds, bool json) {
  if (json)
    fmt::print(stderr,
               "{{\"new_bytes\":{},\"copied\":{},\"copies\":{},\"literal\":{},\"written\":{},"
               "\"seconds\":{:.6f}}}\n",
               stats.fresh.size, stats.copied, stats.copies, stats.literal, stats.bytes_written,
               seconds);
  else
    fmt::print(stderr,
               "new file     {} bytes\n"
               "found        {} bytes in the old file, in {} pieces\n"
               "not found    {} bytes\n"
               "delta        {} bytes\n"
               "time         {:.2f} s\n",
               show_count(stats.fresh.size), show_count(stats.copied), show_count(stats.copies),
               show_count(stats.literal), show_count(stats.bytes_written), seconds);
}

Signature load_signature(const std::string& file) {
  try {
    const InputFile in = InputFile::any(file);
    return Signature::read(in.reader());
  } catch (const Error&) {
    rethrow_naming(file);
  }
}

void run_delta(const MakeDeltaFlags& flags) {
  if (flags.signature == "-" && flags.fresh == "-")
    throw Error(ErrorCode::Config, "only one of SIGNATURE and NEW can be standard input");
  const InputFile fresh = InputFile::any(flags.fresh);
  const Signature signature = load_signature(flags.signature);
  DeltaStats stats;
  EndInOrder end;
  ByteProgress progress(flags.quiet);
  flags.write([&](ByteSink& out) {
    stats = write_delta(signature, end.watch(progress.watch(fresh.reader(), fresh.size())), out,
                        {.rdiff = flags.rdiff, .level = static_cast<int>(flags.level)});
  });
  if (!flags.stats.empty()) print_stats(stats, progress.seconds(), flags.stats == "json");
}

}  // namespace

void add_delta(CommandLine& line) {
  auto flags = std::make_shared<MakeDeltaFlags>();
  Command& command = line.command("delta", "What is new in a file, against a signature");
  command.description = {
      "Reads the signature of an old file into memory, then the new file once, and writes which "
      "parts of the old file to copy and, compressed with zstd, what is not in it. `weir patch` "
      "makes the new file of the old one and the delta.",
      "The delta says of which old file it was made and what the new one must be, by size and "
      "BLAKE2b-256. A signature that rdiff(1) wrote is taken as well; it does not know its file.",
      "The signature takes memory: about 60 bytes for each block. If both versions are on one "
      "machine, `zstd --patch-from` makes smaller deltas."};
  command.argument("SIGNATURE", flags->signature, "Of the old file; - is standard input")
      .require()
      .hint = Hint::File;
  command.argument("NEW", flags->fresh, "The new file; - is standard input").require().hint =
      Hint::File;
  flags->declare_output(command);
  command.value("--level", flags->level, "N", "How hard zstd tries, 1 to 19").between(1, 19);
  flags->declare_rdiff(command,
                       "Not compressed, and without a word about the old and the new file: rdiff "
                       "makes a wrong file of a wrong one, and does not notice.");
  flags->declare_stats(command, "Bytes found in the old file, bytes not found, and of the delta.");
  command.examples = {
      {"weir delta disk.sig disk.img -o disk.delta", "What the holder of the old file lacks"}};
  command.see_also = "rdiff(1), rsync(1), zstd(1)";
  command.run([flags] { run_delta(*flags); });
}

}  // namespace weir::cli
