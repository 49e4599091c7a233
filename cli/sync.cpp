// weir sync: a file or a folder on another machine as it is here.
#include <fmt/format.h>

#include <memory>

#include "byte_progress.hpp"
#include "commands.hpp"
#include "exchange_flags.hpp"
#include "sizes.hpp"
#include "weir/error.hpp"
#include "weir/sync.hpp"

namespace weir::cli {
namespace {

struct SyncFlags : ExchangeFlags {
  std::vector<std::string> paths;
  bool send = false, receive = false;
  bool checksum = false, remove = false, dry_run = false, whole = false, no_fsync = false;
  bool verbose = false;
  std::optional<std::uint64_t> block;
  std::uint32_t level = 3;
  std::string stats;
};

void print_stats(const SyncStats& stats, double seconds, bool json) {
  if (json) {
    fmt::print(stderr,
               "{{\"files\":{},\"bytes\":{},\"alike\":{},\"new\":{},\"updated\":{},\"removed\":{},"
               "\"copied\":{},\"literal\":{},\"again\":{},\"sent\":{},\"received\":{},"
               "\"troubles\":{},\"seconds\":{:.6f}}}\n",
               stats.files, stats.bytes, stats.alike, stats.made, stats.updated, stats.removed,
               stats.copied, stats.literal, stats.again, stats.sent, stats.received,
               stats.troubles.size(), seconds);
    return;
  }
  fmt::print(stderr,
             "source       {} names, {} bytes\n"
             "alike        {}\n"
             "brought over {} new, {} updated, {} removed\n"
             "contents     {} bytes found at the receiver, {} not\n"
             "traffic      {} bytes sent, {} received\n"
             "time         {:.2f} s\n",
             show_count(stats.files), show_count(stats.bytes), show_count(stats.alike),
             show_count(stats.made), show_count(stats.updated), show_count(stats.removed),
             show_count(stats.copied), show_count(stats.literal), show_count(stats.sent),
             show_count(stats.received), seconds);
  if (stats.again > 0)
    fmt::print(stderr, "sent again   {}, because short sums had agreed by chance\n",
               show_count(stats.again));
}

SyncOptions options_of(const SyncFlags& flags) {
  constexpr std::uint64_t longest = 64 << 20;
  if (flags.block && (*flags.block == 0 || *flags.block > longest))
    throw Error(ErrorCode::Config, "--block must be between 1 and 64M");
  SyncOptions options;
  options.checksum = flags.checksum;
  options.remove = flags.remove;
  options.dry_run = flags.dry_run;
  options.whole = flags.whole || flags.alone();
  options.durable = !flags.no_fsync;
  options.block = static_cast<std::uint32_t>(flags.block.value_or(0));
  options.level = flags.alone() ? 0 : static_cast<int>(flags.level);
  return options;
}

void run_sync(const SyncFlags& flags) {
  const std::size_t wanted = flags.alone() ? 2 : 1;
  if (flags.paths.size() != wanted)
    throw Error(ErrorCode::Config,
                flags.alone()
                    ? "give two names, SRC and DEST; or one, and where the other side is, as with "
                      "--with CMD"
                    : "give one name: what this side has; the other side knows its own");
  SyncOptions options = options_of(flags);
  if (flags.serve) {
    converse(flags, [&](Channel& channel) {
      flags.send ? send_files(channel, flags.paths[0], options)
                 : receive_files(channel, flags.paths[0], options);
      channel.close();
    });
    return;
  }
  SyncStats stats;
  double seconds = 0;
  {
    ByteProgress progress(flags.quiet);
    options.progress = [&](std::uint64_t done, std::uint64_t total, const std::string& name) {
      progress.at(done, total, name);
    };
    if (flags.verbose || flags.dry_run)
      options.note = [](std::string_view what, const std::string& name) {
        fmt::print("{:<7}{}\n", what, name);
      };
    if (flags.alone())
      stats = sync_files(flags.paths[0], flags.paths[1], options);
    else
      converse(flags, [&](Channel& channel) {
        stats = flags.receive ? receive_files(channel, flags.paths[0], options)
                              : send_files(channel, flags.paths[0], options);
        channel.close();
      });
    seconds = progress.seconds();
  }
  if (!flags.stats.empty()) print_stats(stats, seconds, flags.stats == "json");
  if (stats.troubles.empty()) return;
  if (!flags.quiet)
    for (const std::string& trouble : stats.troubles)
      fmt::print(stderr, "weir: warning: {}\n", Error(ErrorCode::Io, trouble).what());
  throw Error(ErrorCode::Io, fmt::format("{} could not be brought over; all else was",
                                         stats.troubles.size() == 1
                                             ? std::string("one name")
                                             : show_count(stats.troubles.size()) + " names"));
}

}  // namespace

void add_sync(CommandLine& line) {
  auto flags = std::make_shared<SyncFlags>();
  Command& command = line.command("sync", "Bring files on another machine up to date");
  command.description = {
      "Makes DEST what SRC is, a file or a folder, and sends only what the other side lacks, as "
      "rsync does: the receiver sends sums of its old files, the sender what is not in them, "
      "compressed with zstd. Many files go in one exchange. Of a folder the contents are meant: "
      "SRC/a becomes DEST/a.",
      "Each file is put together beside its place, held against the sender's BLAKE2b, and put in "
      "place in one step: whatever happens, it is the old or the new one, whole. Names, contents, "
      "modes (rwx), times, symbolic links and empty folders are brought over; owners, hard links, "
      "devices and extended attributes are not. Nothing is written outside DEST, whatever the "
      "other side says.",
      "With `--with CMD` this side sends its one path, and the command, which is `weir sync "
      "--serve DEST`, receives. `--receive` here and `--send` there turn it around. Without any of "
      "them SRC and DEST are both here, and changed files are copied whole.",
      "Use rsync(1) where owners, hard links or exclusions matter, or where the other side has "
      "no weir; and tar(1) through ssh where the other side has nothing yet."};
  command.argument("PATH", flags->paths, "SRC and DEST; with another machine, what is here")
      .require()
      .hint = Hint::File;
  command.group("Files");
  command.toggle("-c,--checksum", flags->checksum, "Compare contents, not size and time")
      .more(
          "By default files of equal size and time are taken for equal. Equal size and another "
          "time costs a hash of the file at both sides and 16 bytes.");
  command.toggle("--delete", flags->remove, "Remove what SRC has not")
      .more(
          "After all else is done, and not at all where the sender could not read everything. "
          "Also lets a file take the place of a folder with contents.");
  command.toggle("-n,--dry-run", flags->dry_run, "Only say what would be done")
      .more(
          "`new`, `update` and `remove` with the names; `check` for a file of equal size and "
          "another time, which may turn out to be the same.");
  command.toggle("-W,--whole", flags->whole, "Send changed files whole, not what changed in them");
  command.size("-b,--block", flags->block, "Bytes of a block", "SIZE")
      .shown_as("by the size")
      .more(
          "Of the receiver's first round of sums; given at the receiving side. The second round, "
          "over what the first one did not find, chooses its own.");
  command.value("--level", flags->level, "N", "How hard zstd tries, 1 to 19").between(1, 19);
  command.toggle("--no-fsync", flags->no_fsync, "Do not wait until files are safe on the disk")
      .more(
          "Faster with many small files; after a loss of power some of them may be empty. Given "
          "at the receiving side.");
  flags->declare(command, "Be the other side: receive, or with --send send");
  const Flag& receive = command.toggle("--receive", flags->receive, "PATH is DEST: get files");
  command.toggle("--send", flags->send, "PATH is SRC: give files").not_with(receive);
  command.group("Output");
  command.toggle("-v,--verbose", flags->verbose, "Name what is brought over");
  command
      .choice("--stats", flags->stats, "FORM", {{"text", "text"}, {"json", "json"}},
              "Say afterwards on stderr what was done")
      .bare("text")
      .more("Names, what was brought over, bytes found and sent.");
  command.toggle("-q,--quiet", flags->quiet, "No warnings, no progress line");
  command.examples = {
      {"weir sync --with 'ssh host weir sync --serve www' www", "Bring host's folder up to date"},
      {"weir sync --receive --with 'ssh host weir sync --serve --send www' www",
       "The other way: from host to here"},
      {"weir sync --delete -n project /mnt/backup/project", "What would change in a copy"}};
  command.see_also = "rsync(1), rdiff(1)";
  command.run([flags] { run_sync(*flags); });
}

}  // namespace weir::cli
