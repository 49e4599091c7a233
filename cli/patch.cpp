// weir patch: an old file and a delta to the new file.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "byte_progress.hpp"
#include "commands.hpp"
#include "delta_flags.hpp"
#include "exchange/files.hpp"
#include "sizes.hpp"
#include "weir/error.hpp"

namespace weir::cli {
namespace {

struct PatchFlags : DeltaFlags {
  std::string old, delta;
  bool in_place = false;
};

void print_stats(const PatchStats& stats, double seconds, bool json) {
  if (json)
    fmt::print(stderr,
               "{{\"new_bytes\":{},\"copied\":{},\"literal\":{},\"delta_bytes\":{},\"checked\":{},"
               "\"seconds\":{:.6f}}}\n",
               stats.fresh.size, stats.copied, stats.literal, stats.bytes_read, stats.checked,
               seconds);
  else
    fmt::print(stderr,
               "new file     {} bytes, {}\n"
               "from         {} bytes of the old file, {} of the delta\n"
               "delta        {} bytes\n"
               "time         {:.2f} s\n",
               show_count(stats.fresh.size),
               stats.checked ? "checked as a whole" : "not checked: rdiff's delta cannot tell",
               show_count(stats.copied), show_count(stats.literal), show_count(stats.bytes_read),
               seconds);
}

PatchStats patch_to_stdout(const PatchFlags& flags, const ReadSome& delta, PatchOptions options) {
  const InputFile old(flags.old);
  options.basis_first = true;
  PatchStats stats;
  flags.write([&](ByteSink& out) {
    stats = apply_delta(old.reader_at(), old.size(), delta, out, options);
  });
  return stats;
}

void run_patch(const PatchFlags& flags) {
  if (flags.output.empty() && !flags.in_place)
    throw Error(ErrorCode::Config,
                "where should the new file go? Say -o FILE, -o - for standard output, or "
                "--in-place");
  const InputFile delta = InputFile::any(flags.delta);
  PatchStats stats;
  EndInOrder end;
  ByteProgress progress(flags.quiet);
  const ReadSome reader = end.watch(delta.reader());
  PatchOptions options;
  options.progress = [&](std::uint64_t written) {
    end.check();
    progress.at(written, 0);
  };
  try {
    stats = flags.output == "-"
                ? patch_to_stdout(flags, reader, options)
                : patch_file(flags.old, reader, flags.in_place ? flags.old : flags.output, options);
  } catch (const Error&) {
    rethrow_naming(flags.delta);
  }
  if (!flags.stats.empty()) print_stats(stats, progress.seconds(), flags.stats == "json");
}

}  // namespace

void add_patch(CommandLine& line) {
  auto flags = std::make_shared<PatchFlags>();
  Command& command = line.command("patch", "Make the new file of the old one and a delta");
  command.description = {
      "Applies what `weir delta` or rdiff(1) wrote. The new file is written beside its place, held "
      "against the size and BLAKE2b-256 that the delta states, made safe on the disk, and put in "
      "its place in one step. A wrong old file, a delta that is damaged or cut off, a full disk: "
      "one sentence, and the place is as it was.",
      "What rdiff wrote says nothing about the files, so that a wrong old file goes unnoticed.",
      "This is not for the output of diff(1): that is what patch(1) reads."};
  command.argument("OLD", flags->old, "The old file").require().hint = Hint::File;
  command.argument("DELTA", flags->delta, "The delta; - is standard input").require().hint =
      Hint::File;
  const Flag& output =
      command.file("-o,--output", flags->output, "Write the new file to FILE")
          .more(
              "It is replaced as a whole and keeps its mode; a new one gets that of OLD. With `-` "
              "the new file goes to standard output as it is made: the old file is checked "
              "before, the new one at the end, and what came out counts only if the exit is 0.");
  command.toggle("--in-place", flags->in_place, "Replace OLD itself").not_with(output);
  flags->declare_stats(command, "Bytes of the new file, from where they came, and the check.");
  command.examples = {{"weir patch --in-place disk.img disk.delta", "Bring a file up to date"},
                      {"weir patch disk.img disk.delta -o new.img", "Keep the old version, too"}};
  command.see_also = "rdiff(1)";
  command.run([flags] { run_patch(*flags); });
}

}  // namespace weir::cli
