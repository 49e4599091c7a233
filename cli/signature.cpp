// weir signature: what the other side must know of an old file.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "byte_progress.hpp"
#include "commands.hpp"
#include "delta_flags.hpp"
#include "exchange/block_size.hpp"
#include "exchange/files.hpp"
#include "sizes.hpp"
#include "weir/error.hpp"

namespace weir::cli {
namespace {

struct SignatureFlags : DeltaFlags {
  std::string old;
  std::optional<std::uint64_t> block;
  std::optional<std::uint32_t> strong;
  RollingSum rolling = RollingSum::RabinKarp;
  StrongSum hash = StrongSum::Blake2;
};

void print_stats(const SignatureStats& stats, double seconds, bool json) {
  const double chance = log2_false_match(stats.old_size, stats.block, stats.strong);
  if (json)
    fmt::print(stderr,
               "{{\"old_bytes\":{},\"block\":{},\"blocks\":{},\"strong\":{},\"written\":{},"
               "\"log2_false_match\":{:.1f},\"seconds\":{:.6f}}}\n",
               stats.old_size, stats.block, stats.blocks, stats.strong, stats.bytes_written, chance,
               seconds);
  else
    fmt::print(stderr,
               "old file     {} bytes\n"
               "blocks       {} of {} bytes, with {} bytes of strong sum each\n"
               "signature    {} bytes\n"
               "false match  2^{:.0f} at most, over a new file of the same size\n"
               "time         {:.2f} s\n",
               show_count(stats.old_size), show_count(stats.blocks), show_count(stats.block),
               stats.strong, show_count(stats.bytes_written), std::ceil(chance), seconds);
}

void run_signature(const SignatureFlags& flags) {
  const InputFile old = InputFile::any(flags.old);
  SignatureOptions options;
  options.old_size = old.size();
  constexpr std::uint64_t longest = 64 << 20;
  if (flags.block && (*flags.block == 0 || *flags.block > longest))
    throw Error(ErrorCode::Config, "--block must be between 1 and 64M");
  options.block = static_cast<std::uint32_t>(flags.block.value_or(0));
  options.strong = flags.strong.value_or(0);
  options.rolling = flags.rolling;
  options.hash = flags.hash;
  options.rdiff = flags.rdiff;
  SignatureStats stats;
  EndInOrder end;
  ByteProgress progress(flags.quiet);
  flags.write([&](ByteSink& out) {
    stats = write_signature(end.watch(progress.watch(old.reader(), old.size())), out, options);
  });
  if (!flags.stats.empty()) print_stats(stats, progress.seconds(), flags.stats == "json");
}

}  // namespace

void add_signature(CommandLine& line) {
  auto flags = std::make_shared<SignatureFlags>();
  Command& command = line.command("signature", "Sums of an old file, to make a delta against");
  command.description = {
      "Writes a few bytes for each block of the old file: a weak sum that can be rolled along "
      "another file, and a strong one. With them `weir delta` finds what is new in a new version, "
      "without the old file; `weir patch` puts the two together.",
      "The old file is read once, in little memory, and may be a pipe. The signature also holds "
      "its size and BLAKE2b-256, so that a delta is never applied to another file.",
      "For files and folders on two machines `weir sync` does all three steps. If both versions "
      "are on one machine, `zstd --patch-from` makes smaller deltas; if the other side has "
      "nothing of the file, compress it and copy it."};
  command.argument("OLD", flags->old, "The old file; - is standard input").require().hint =
      Hint::File;
  command.group("Sums");
  command.size("-b,--block", flags->block, "Bytes of a block", "SIZE")
      .shown_as("root of the size")
      .more(
          "Smaller blocks find more, and make a larger signature. By default the square root of "
          "the file's size, from 256 bytes to 128K; 2048 for a pipe, whose size is not known.");
  command.value("--strong", flags->strong, "N", "Bytes kept of a block's strong sum")
      .shown_as("by the size")
      .between(1, full_strong)
      .more(
          "By default so many that in 10^12 files one has two different blocks with the same "
          "sums. Such a delta is refused by `weir patch`, so that no file is ever wrong.");
  command
      .choice("--hash", flags->hash, "NAME",
              {{"blake2", StrongSum::Blake2}, {"md4", StrongSum::Md4}}, "The strong sum")
      .more("md4 is for old versions of rdiff: whoever wants to can make files that agree in it.");
  command.choice("--rollsum", flags->rolling, "NAME",
                 {{"rabinkarp", RollingSum::RabinKarp}, {"rollsum", RollingSum::Rollsum}},
                 "The weak sum; rollsum is for old versions of rdiff");
  command.group("Output");
  flags->declare_output(command);
  flags->declare_rdiff(command,
                       "Without the old file's size and hash, and with all of each strong sum, "
                       "because nothing is checked later.");
  flags->declare_stats(
      command, "Blocks, their size, and the chance that two different ones have the same sums.");
  command.examples = {{"weir signature disk.img -o disk.sig", "Sums of what the other side has"},
                      {"ssh host weir signature disk.img | weir delta - disk.img -o disk.delta",
                       "The delta to the other side's file"}};
  command.see_also = "rdiff(1), rsync(1)";
  command.run([flags] { run_signature(*flags); });
}

}  // namespace weir::cli
