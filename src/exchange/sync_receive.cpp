// The side of weir sync that gets the files: compares the list with what it has, asks for what
// differs, puts it together beside its place, checks it, and puts it in place (sync_wire.hpp).
#include <algorithm>
#include <deque>
#include <memory>

#include "exchange/block_size.hpp"
#include "exchange/file_hash.hpp"
#include "exchange/patcher.hpp"
#include "exchange/sync_destination.hpp"
#include "exchange/sync_root.hpp"
#include "exchange/sync_script.hpp"
#include "exchange/sync_wire.hpp"
#include "exchange/weaver.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t buffer_bytes = 256 << 10;
// A turn ends after so many requests, or so many bytes of sums: the sender holds them all.
constexpr std::size_t most_requests = 4096;
constexpr std::uint64_t most_sum_bytes = 4 << 20;
// A file so short goes as a whole: its sums and the commands would hardly be less.
constexpr std::uint64_t shortest_delta = 700;
constexpr const char* beyond_the_end =
    "the other side sends garbage: a copy from behind the end of a file";

// Bytes that go by, counted.
class PassingSink final : public ByteSink {
 public:
  explicit PassingSink(ByteSink& out) : out_(out) {}
  void write(std::span<const std::byte> bytes) override {
    count += bytes.size();
    out_.write(bytes);
  }
  std::uint64_t count = 0;

 private:
  ByteSink& out_;
};

class Receiver {
 public:
  Receiver(Talk& talk, Destination& here, const SyncList& list, const Wishes& wishes,
           const SyncOptions& options)
      : talk_(talk),
        here_(here),
        root_(here.root()),
        list_(list),
        wishes_(wishes),
        options_(options) {
    for (const SyncEntry& entry : list.entries) total_ += entry.size;
  }

  void run() {
    for (std::size_t i = 0; i < list_.entries.size(); ++i) {
      compare(i);
      done_ += list_.entries[i].size;
      progress(list_.entries[i].name);
      if (turn_is_full()) turn();
    }
    while (!asked_.empty() || !again_.empty()) {
      const std::deque<Wanted> again = std::exchange(again_, {});
      for (const Wanted& wanted : again) {
        ask(wanted);
        if (turn_is_full()) turn();
      }
      turn();
    }
    here_.finish();
  }

 private:
  struct Wanted {
    std::size_t entry = 0;
    SyncRequest request{};
    bool full_sums = false;
    std::uint32_t block = 0;         // of Finer
    std::shared_ptr<Script> plan{};  // the same
  };

  [[nodiscard]] bool turn_is_full() const {
    return asked_.size() >= most_requests || sum_bytes_ >= most_sum_bytes;
  }

  // --- what is there, and what is missing ---------------------------------------------------

  void compare(std::size_t index) {
    const SyncEntry& entry = list_.entries[index];
    talk_.still_here();
    std::optional<struct stat> there = here_.look(entry.name);
    const bool right_kind =
        there && ((entry.kind == EntryKind::File && S_ISREG(there->st_mode)) ||
                  (entry.kind == EntryKind::Folder && S_ISDIR(there->st_mode)) ||
                  (entry.kind == EntryKind::Link && S_ISLNK(there->st_mode)));
    if (there && !right_kind) {
      if (!here_.make_way(entry, S_ISDIR(there->st_mode))) return;
      there.reset();
    }
    switch (entry.kind) {
      case EntryKind::Folder:
        if (!there) here_.make_folder(entry);
        return;
      case EntryKind::Link:
        return here_.make_link(entry, there.has_value());
      default:
        return compare_file(index, there);
    }
  }

  void compare_file(std::size_t index, const std::optional<struct stat>& there) {
    const SyncEntry& entry = list_.entries[index];
    if (!there) return want({index, SyncRequest::Whole});
    const auto size = static_cast<std::uint64_t>(there->st_size);
    if (size == entry.size) {
      if (modified_at(*there) == entry.time && !wishes_.checksum) return here_.alike(entry, *there);
      if (!wishes_.whole || wishes_.checksum) return want({index, SyncRequest::Hash});
    }
    want({index, request_for(entry.size, size)});
  }

  [[nodiscard]] SyncRequest request_for(std::uint64_t fresh, std::uint64_t old) const {
    const bool small = fresh < shortest_delta || old < shortest_delta;
    return small || wishes_.whole ? SyncRequest::Whole : SyncRequest::Sums;
  }

  // --- asking -------------------------------------------------------------------------------

  void want(const Wanted& wanted) {
    const SyncEntry& entry = list_.entries[wanted.entry];
    if (!wishes_.dry_run) return ask(wanted);
    // Without asking it is not known whether a file of the same size is the same.
    const bool there = here_.look(entry.name).has_value();
    here_.note(!there                                ? "new"
               : wanted.request == SyncRequest::Hash ? "check"
                                                     : "update",
               entry.name);
    ++(!there ? here_.stats.made : here_.stats.updated);
  }

  void ask(const Wanted& wanted) {
    const SyncEntry& entry = list_.entries[wanted.entry];
    SyncRequest request = wanted.request;
    std::optional<InputFile> old;
    if (request != SyncRequest::Whole) {
      try {
        old.emplace(root_->open(entry.name));
      } catch (const Error&) {
        request = SyncRequest::Whole;  // what cannot be read cannot be built on
      }
    }
    talk_.number(static_cast<std::uint64_t>(request));
    talk_.number(wanted.entry);
    if (request == SyncRequest::Hash) {
      const FileSum sum = sum_of(*old);
      talk_.bytes(short_hash(sum));
    } else if (request == SyncRequest::Sums) {
      const std::uint32_t block =
          options_.block > 0 ? options_.block : first_block_for(old->size());
      talk_.number(old->size());
      send_sums(watched(*old), std::max(old->size(), entry.size), block, wanted.full_sums);
    } else if (request == SyncRequest::Finer) {
      const ReadAt all = old->reader_at();
      const Parts parts = never_copied(*wanted.plan, old->size());
      const ReadSome reader = from_start(parts.of(all));
      send_sums(reader, std::max(parts.size(), literals_of(*wanted.plan).size()), wanted.block,
                false);
    }
    asked_.push_back({wanted.entry, request, wanted.full_sums, wanted.block, wanted.plan});
  }

  void send_sums(const ReadSome& old, std::uint64_t size, std::uint32_t block, bool full) {
    SignatureOptions options;
    options.block = block;
    options.strong = full ? full_strong : strong_for(size, block, safety_of_sync);
    options.rdiff = true;
    PieceSink pieces(talk_);
    PassingSink counted(pieces);
    write_signature(old, counted, options);
    pieces.end();
    sum_bytes_ += counted.count;
  }

  ReadSome watched(const InputFile& file) {
    return [this, reader = file.reader()](std::span<std::byte> bytes) {
      talk_.still_here();
      return reader(bytes);
    };
  }
  FileSum sum_of(const InputFile& file) {
    FileHash hash;
    std::vector<std::byte> buffer(buffer_bytes);
    const ReadSome reader = watched(file);
    while (const std::size_t count = reader(buffer))
      hash.add(std::span<const std::byte>(buffer).first(count));
    return hash.sum();
  }

  // --- answers ------------------------------------------------------------------------------

  void turn() {
    if (asked_.empty()) return;
    talk_.number(static_cast<std::uint64_t>(SyncRequest::EndOfTurn));
    talk_.end_turn();
    for (const Wanted& wanted : std::exchange(asked_, {})) hear(wanted);
    sum_bytes_ = 0;
    here_.place_pending();
  }

  void hear(const Wanted& wanted) {
    const SyncEntry& entry = list_.entries[wanted.entry];
    const std::uint64_t answer = talk_.number();
    if (answer == static_cast<std::uint64_t>(SyncAnswer::Gone)) {
      here_.stats.troubles.push_back(entry.name + ": " + talk_.text(4096));
      return;
    }
    if (wanted.request == SyncRequest::Hash) {
      if (answer == static_cast<std::uint64_t>(SyncAnswer::Same)) {
        if (const auto there = root_->look(entry.name)) here_.alike(entry, *there);
        return;
      }
      if (answer == static_cast<std::uint64_t>(SyncAnswer::Different)) {
        again_.push_back({wanted.entry, request_for(entry.size, entry.size)});
        return;
      }
    } else if (answer == static_cast<std::uint64_t>(SyncAnswer::Contents)) {
      return hear_contents(wanted);
    } else if (answer == static_cast<std::uint64_t>(SyncAnswer::Plan) &&
               wanted.request == SyncRequest::Sums) {
      return hear_plan(wanted);
    }
    throw Error(ErrorCode::Io, "the other side sends garbage: an answer to another question");
  }

  void hear_plan(const Wanted& wanted) {
    const SyncEntry& entry = list_.entries[wanted.entry];
    const std::uint64_t block = talk_.number();
    if (block == 0 || block > most_block)
      throw Error(ErrorCode::Io,
                  "the other side sends garbage: blocks of " + std::to_string(block) + " bytes");
    auto plan =
        std::make_shared<Script>(receive_plan(talk_, root_->open(entry.name).size(), entry.size));
    again_.push_back({wanted.entry, SyncRequest::Finer, false, static_cast<std::uint32_t>(block),
                      std::move(plan)});
  }

  void hear_contents(const Wanted& wanted) {
    const SyncEntry& entry = list_.entries[wanted.entry];
    progress(entry.name);
    const bool there = root_->look(entry.name).has_value();
    SyncRoot::Pending pending(*root_, entry.name);
    DescriptorSink file(pending.fd(), entry.name);
    std::optional<InputFile> old;
    if (wanted.request != SyncRequest::Whole) old.emplace(root_->open(entry.name));
    const ReadAt all = old ? old->reader_at() : ReadAt{};
    const std::uint64_t old_size = old ? old->size() : 0;
    Patcher patcher(all, old_size, file, entry.size);
    PatchStats inner;
    if (wanted.request == SyncRequest::Whole) {
      std::vector<std::byte> buffer(buffer_bytes);
      Pieces pieces(talk_);
      while (const std::size_t count = pieces(buffer))
        patcher.literal(std::span<const std::byte>(buffer).first(count));
    } else if (wanted.request == SyncRequest::Sums) {
      ScriptCommands commands(talk_);
      patcher.run(commands, beyond_the_end);
    } else {
      const Parts parts = never_copied(*wanted.plan, old_size);
      const ReadAt rest = parts.of(all);
      Weaver weaver(patcher, *wanted.plan);
      Patcher inside(rest, parts.size(), weaver, entry.size);
      ScriptCommands commands(talk_);
      inside.run(commands, beyond_the_end);
      inner = inside.finish();
    }
    PatchStats patched = patcher.finish();
    // What the second round found went through the first one's literals.
    patched.copied += inner.copied, patched.literal -= inner.copied;
    if (const std::string trouble = talk_.text(4096); !trouble.empty()) {
      here_.stats.troubles.push_back(entry.name + ": " + trouble);
      return;
    }
    ShortHash stated;
    talk_.read(stated);
    here_.stats.literal += patched.literal;
    if (stated != short_hash(patched.fresh)) return once_more(wanted);
    here_.stats.copied += patched.copied;
    here_.add(std::move(pending), entry, there);
  }

  // Short sums first; if they deceived, full ones; if our old file changes all the time, all of it.
  void once_more(const Wanted& wanted) {
    if (wanted.request == SyncRequest::Whole)
      throw Error(ErrorCode::Io, "the other side sends another file than it says it does: " +
                                     list_.entries[wanted.entry].name);
    ++here_.stats.again;
    if (wanted.full_sums)
      again_.push_back({wanted.entry, SyncRequest::Whole, true});
    else
      again_.push_back({wanted.entry, SyncRequest::Sums, true});
  }

  void progress(const std::string& name) {
    if (options_.progress) options_.progress(done_, total_, name);
  }

 private:
  Talk& talk_;
  Destination& here_;
  SyncRoot* root_;
  const SyncList& list_;
  Wishes wishes_;
  const SyncOptions& options_;
  std::uint64_t total_ = 0, done_ = 0;
  std::vector<Wanted> asked_;
  std::deque<Wanted> again_;
  std::uint64_t sum_bytes_ = 0;
};

}  // namespace

SyncStats receive_files(Channel& channel, const fs::path& destination, const SyncOptions& options) {
  const Wishes wishes = agree(channel, {.role = SyncRole::Receiver,
                                        .remove = options.remove,
                                        .dry_run = options.dry_run,
                                        .checksum = options.checksum,
                                        .whole = options.whole,
                                        .notes = false,
                                        .plain = options.level == 0});
  Talk talk(channel, wishes.plain ? 0 : std::max(options.level, 1));
  SyncList list = receive_list(talk);

  std::error_code error;
  fs::path folder = destination;
  const bool is_folder = fs::is_directory(destination, error);
  if (!list.folder && !is_folder) {
    if (list.entries.size() == 1) list.entries[0].name = destination.filename().string();
    folder = destination.has_parent_path() ? destination.parent_path() : fs::path(".");
  }
  std::optional<SyncRoot> root;
  if (list.folder && !is_folder) {
    if (fs::exists(fs::symlink_status(destination, error)))
      throw Error(ErrorCode::Io, destination.string() + " is not a folder, but the source is one");
    if (!wishes.dry_run && !fs::create_directory(destination, error))
      throw Error(ErrorCode::Io, "cannot make " + destination.string() + ": " + error.message());
    if (!wishes.dry_run) root.emplace(destination);
  } else {
    root.emplace(folder);
  }

  Destination here(talk, root ? &*root : nullptr, list, wishes, options);
  Receiver(talk, here, list, wishes, options).run();
  here.send_notes();
  SyncStats stats = here.stats;
  talk.number(static_cast<std::uint64_t>(SyncRequest::Done));
  send_figures(talk, stats);
  talk.end_turn();
  stats.files = list.entries.size();
  for (const SyncEntry& entry : list.entries) stats.bytes += entry.size;
  stats.sent = channel.sent(), stats.received = channel.received();
  return stats;
}

}  // namespace weir
