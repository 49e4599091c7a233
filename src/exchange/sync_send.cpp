// The side of weir sync that has the files: lists them, and answers what the other side asks for
// (sync_wire.hpp).
#include <algorithm>
#include <map>

#include "exchange/delta_splitter.hpp"
#include "exchange/file_hash.hpp"
#include "exchange/librsync_job.hpp"
#include "exchange/signature.hpp"
#include "exchange/sync_root.hpp"
#include "exchange/sync_script.hpp"
#include "exchange/sync_wire.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::uint64_t most_sums = 512 << 20;  // bytes of one signature
constexpr std::size_t buffer_bytes = 256 << 10;

[[noreturn]] void garbage(const char* what) {
  throw Error(ErrorCode::Io, std::string("the other side sends garbage: ") + what);
}

// All there is below a folder, in order; what cannot be sent or read is told.
class Walk {
 public:
  Walk(SyncRoot& root, SyncList& list, Talk& talk) : root_(root), list_(list), talk_(talk) {}

  void folder(const std::string& name) {
    std::vector<std::string> names;
    try {
      names = root_.list(name);
    } catch (const Error& error) {
      list_.troubles.emplace_back(error.what());
      return;
    }
    std::sort(names.begin(), names.end());
    for (const std::string& one : names) add(name.empty() ? one : name + "/" + one);
  }
  void add(const std::string& name) {
    talk_.still_here();
    try {
      const auto status = root_.look(name);
      if (!status) return;  // removed since
      SyncEntry entry;
      entry.name = name;
      entry.mode = static_cast<std::uint32_t>(status->st_mode & 0777);
      entry.time = modified_at(*status);
      if (S_ISREG(status->st_mode)) {
        entry.size = static_cast<std::uint64_t>(status->st_size);
      } else if (S_ISDIR(status->st_mode)) {
        entry.kind = EntryKind::Folder;
      } else if (S_ISLNK(status->st_mode)) {
        entry.kind = EntryKind::Link;
        entry.target = root_.link_target(name);
      } else {
        list_.troubles.push_back(name + " is neither a file nor a folder nor a link: passed over");
        return;
      }
      const bool is_folder = entry.kind == EntryKind::Folder;
      list_.entries.push_back(std::move(entry));
      if (is_folder) folder(name);
    } catch (const Error& error) {
      list_.troubles.emplace_back(error.what());
    }
  }

 private:
  SyncRoot& root_;
  SyncList& list_;
  Talk& talk_;
};

// A file's listed bytes and not one more; an error while reading becomes its end, and is kept.
class Reading {
 public:
  Reading(const InputFile& file, std::uint64_t size, std::function<void(std::uint64_t)> read)
      : reader_(file.reader()), left_(size), size_(size), read_(std::move(read)) {}
  std::size_t operator()(std::span<std::byte> bytes) {
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    if (most == 0) return 0;
    std::size_t count = 0;
    try {
      count = reader_(bytes.first(most));
    } catch (const Error& error) {
      trouble = error.what();
    }
    left_ = count == 0 ? 0 : left_ - count;
    read_(size_ - left_);
    return count;
  }
  std::string trouble;

 private:
  ReadSome reader_;
  std::uint64_t left_, size_;
  std::function<void(std::uint64_t)> read_;
};

struct Asked {
  SyncRequest request{};
  std::size_t entry = 0;
  ShortHash hash{};
  std::uint64_t old_size = 0;
  std::vector<std::byte> sums;
};

// Between a plan and the finer sums for it.
struct Planned {
  Script script;
  ShortHash hash{};
};

Signature load(std::span<const std::byte> sums) {
  Signature signature = Signature::read([&](std::span<std::byte> bytes) {
    const std::size_t count = std::min(sums.size(), bytes.size());
    std::copy_n(sums.begin(), count, bytes.begin());
    sums = sums.subspan(count);
    return count;
  });
  // The others are for old versions of rdiff, and can be made slow.
  if (signature.rolling() != RollingSum::RabinKarp) garbage("sums of an old kind");
  return signature;
}

// Which parts of a new file are in the old one.
Script find(const Signature& signature, const ReadSome& fresh) {
  Script script;
  std::uint64_t made = 0;
  DeltaSplitter splitter(
      [&](const DeltaCommands::Copy& copy) {
        script.push_back({.copy = true, .at = copy.at, .length = copy.length});
        made += copy.length;
      },
      [&](std::span<const std::byte> literal) {
        if (script.empty() || script.back().copy)
          script.push_back({.copy = false, .at = made, .length = 0});
        script.back().length += literal.size();
        made += literal.size();
      });
  LibrsyncJob job(rs_delta_begin(signature.loaded().sums.get()), "the signature");
  job.run(fresh, window_for(signature.block()),
          [&](std::span<const std::byte> bytes) { splitter.write(bytes); });
  splitter.end();
  return script;
}

class Sender {
 public:
  Sender(Talk& talk, SyncRoot& root, const SyncList& list, const SyncOptions& options)
      : talk_(talk), root_(root), list_(list), options_(options), before_(list.entries.size() + 1) {
    for (std::size_t i = 0; i < list.entries.size(); ++i)
      before_[i + 1] = before_[i] + list.entries[i].size;
  }

  SyncStats run() {
    SyncStats stats;
    while (!hear(stats)) {
      for (const Asked& asked : asked_) answer(asked);
      asked_.clear();
      talk_.end_turn();
    }
    return stats;
  }

 private:
  // One turn of the receiver. True: it was its last.
  bool hear(SyncStats& stats) {
    for (;;) {
      const std::uint64_t request = talk_.number();
      if (request > static_cast<std::uint64_t>(SyncRequest::Done)) garbage("an unknown request");
      Asked asked;
      asked.request = static_cast<SyncRequest>(request);
      if (asked.request == SyncRequest::EndOfTurn) return false;
      if (asked.request == SyncRequest::Done) {
        stats = receive_figures(talk_);
        return true;
      }
      if (asked.request == SyncRequest::Note) {
        const std::string what = talk_.text(64), name = talk_.text(1 << 14);
        if (options_.note) options_.note(what, name);
        continue;
      }
      const std::uint64_t entry = talk_.number();
      if (entry >= list_.entries.size() || list_.entries[entry].kind != EntryKind::File)
        garbage("a request for a file that is not in the list");
      asked.entry = static_cast<std::size_t>(entry);
      if (asked.request == SyncRequest::Hash) talk_.read(asked.hash);
      if (asked.request == SyncRequest::Sums) asked.old_size = talk_.number();
      if (asked.request == SyncRequest::Sums || asked.request == SyncRequest::Finer) {
        std::byte some[4096];
        Pieces pieces(talk_);
        while (const std::size_t count = pieces(some)) {
          if (asked.sums.size() + count > most_sums) garbage("a signature that is too long");
          asked.sums.insert(asked.sums.end(), some, some + count);
        }
      }
      asked_.push_back(std::move(asked));
    }
  }

  void answer(const Asked& asked) {
    const SyncEntry& entry = list_.entries[asked.entry];
    std::optional<InputFile> file;
    try {
      file.emplace(root_.open(entry.name));
    } catch (const Error& error) {
      say(SyncAnswer::Gone);
      talk_.text(std::string_view(error.what()).substr(0, 4096));
      return;
    }
    Reading reading(*file, entry.size, [&](std::uint64_t done) {
      talk_.still_here();
      if (options_.progress)
        options_.progress(before_[asked.entry] + done, before_.back(), entry.name);
    });
    const ReadSome reader = [&](std::span<std::byte> bytes) { return reading(bytes); };
    if (asked.request == SyncRequest::Hash) {
      const FileSum sum = pass(reader, nullptr);
      say(short_hash(sum) == asked.hash && reading.trouble.empty() ? SyncAnswer::Same
                                                                   : SyncAnswer::Different);
      return;
    }
    if (asked.request == SyncRequest::Sums) return answer_sums(asked, *file, reading);
    if (asked.request == SyncRequest::Finer) return answer_finer(asked, *file);
    say(SyncAnswer::Contents);
    PieceSink pieces(talk_);
    const FileSum sum = pass(reader, &pieces);
    pieces.end();
    finish(reading.trouble, short_hash(sum));
  }

  void answer_sums(const Asked& asked, const InputFile& file, Reading& reading) {
    const Signature signature = load(asked.sums);
    FileHash hash;
    Planned planned;
    planned.script = find(signature, [&](std::span<std::byte> bytes) {
      const std::size_t count = reading(bytes);
      hash.add(bytes.first(count));
      return count;
    });
    planned.hash = short_hash(hash.sum());
    // Full sums are asked for where short ones have failed: no more of these.
    const bool short_sums = signature.strong() < full_strong;
    const std::uint32_t block =
        short_sums && reading.trouble.empty()
            ? second_block_for(planned.script, asked.old_size, signature.block())
            : 0;
    if (block > 0) {
      say(SyncAnswer::Plan);
      talk_.number(block);
      send_plan(talk_, planned.script);
      planned_[asked.entry] = std::move(planned);
      return;
    }
    say(SyncAnswer::Contents);
    send_script(talk_, planned.script, file.reader_at());
    finish(reading.trouble, planned.hash);
  }

  void answer_finer(const Asked& asked, const InputFile& file) {
    const auto at = planned_.find(asked.entry);
    if (at == planned_.end()) garbage("finer sums that nobody asked for");
    const Planned planned = std::move(at->second);
    planned_.erase(at);
    const Parts literals = literals_of(planned.script);
    const ReadAt real = file.reader_at(), fresh = literals.of(real);
    const ReadSome reader = from_start(fresh);
    const Script script = find(load(asked.sums), [&](std::span<std::byte> bytes) {
      talk_.still_here();
      return reader(bytes);
    });
    say(SyncAnswer::Contents);
    send_script(talk_, script, fresh);
    finish("", planned.hash);
  }

  void finish(const std::string& trouble, const ShortHash& hash) {
    talk_.text(std::string_view(trouble).substr(0, 4096));
    if (trouble.empty()) talk_.bytes(hash);
  }

  static FileSum pass(const ReadSome& reader, ByteSink* to) {
    FileHash hash;
    std::vector<std::byte> buffer(buffer_bytes);
    while (const std::size_t count = reader(buffer)) {
      const auto some = std::span<const std::byte>(buffer).first(count);
      hash.add(some);
      if (to != nullptr) to->write(some);
    }
    return hash.sum();
  }
  void say(SyncAnswer answer) { talk_.number(static_cast<std::uint64_t>(answer)); }

  Talk& talk_;
  SyncRoot& root_;
  const SyncList& list_;
  const SyncOptions& options_;
  std::vector<std::uint64_t> before_;  // bytes of the files before each
  std::vector<Asked> asked_;
  std::map<std::size_t, Planned> planned_;  // by entry
};

}  // namespace

SyncStats send_files(Channel& channel, const std::filesystem::path& source,
                     const SyncOptions& options) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path real = fs::canonical(source, error);
  if (error) throw Error(ErrorCode::Io, "cannot open " + source.string() + ": " + error.message());
  const bool folder = fs::is_directory(real, error);
  if (!folder && !fs::is_regular_file(real, error))
    throw Error(ErrorCode::Io, source.string() + " is neither a file nor a folder");
  SyncRoot root(folder ? real : real.parent_path());
  const Wishes wishes = agree(channel, {.role = SyncRole::Sender,
                                        .remove = options.remove,
                                        .dry_run = options.dry_run,
                                        .checksum = options.checksum,
                                        .whole = options.whole,
                                        .notes = options.note != nullptr,
                                        .plain = options.level == 0});
  Talk talk(channel, wishes.plain ? 0 : std::max(options.level, 1));
  SyncList list;
  list.folder = folder;
  Walk walk(root, list, talk);
  if (folder)
    walk.folder("");
  else
    walk.add(real.filename().string());
  send_list(talk, list);
  talk.end_turn();

  SyncStats stats = Sender(talk, root, list, options).run();
  stats.files = list.entries.size();
  for (const SyncEntry& entry : list.entries) stats.bytes += entry.size;
  stats.sent = channel.sent(), stats.received = channel.received();
  return stats;
}

}  // namespace weir
