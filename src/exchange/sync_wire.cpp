#include "exchange/sync_wire.hpp"

#include <climits>
#include <cstring>
#include <unordered_map>

#include "exchange/message.hpp"
#include "exchange/sync_root.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::uint8_t wishes_kind = Channel::First;
constexpr std::uint64_t most_entries = 1 << 28, most_text = std::uint64_t{1} << 30;
constexpr std::size_t most_sentence = 8192;

[[noreturn]] void garbage(const std::string& what) {
  throw Error(ErrorCode::Io, "the other side sends garbage: " + what);
}

void send_texts(Talk& talk, const std::vector<std::string>& texts) {
  talk.number(texts.size());
  for (const std::string& text : texts) talk.text(std::string_view(text).substr(0, most_sentence));
}

std::vector<std::string> receive_texts(Talk& talk) {
  const std::uint64_t count = talk.number();
  if (count > most_entries) garbage("too many names");
  std::vector<std::string> texts;
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    texts.push_back(talk.text(most_sentence));
    if ((total += texts.back().size() + sizeof(std::string)) > most_text) garbage("too many names");
  }
  return texts;
}

// Small for numbers of either sign.
std::uint64_t folded(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unfolded(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
}

constexpr std::uint64_t SyncStats::*figures[] = {
    &SyncStats::alike,  &SyncStats::made,    &SyncStats::updated, &SyncStats::removed,
    &SyncStats::copied, &SyncStats::literal, &SyncStats::again};

}  // namespace

ShortHash short_hash(const FileSum& sum) {
  ShortHash half;
  std::memcpy(half.data(), sum.hash.data(), half.size());
  return half;
}

Wishes agree(Channel& channel, const Wishes& ours) {
  channel.greet(sync_purpose, sync_version);
  const auto flag = [](bool wish) { return std::byte{wish ? std::uint8_t{1} : std::uint8_t{0}}; };
  const std::byte said[] = {std::byte(ours.role), flag(ours.remove), flag(ours.dry_run),
                            flag(ours.checksum),  flag(ours.whole),  flag(ours.notes),
                            flag(ours.plain)};
  channel.send(wishes_kind, said);
  MessageReader in(channel.receive(wishes_kind));
  Wishes both = ours;
  const auto role = in.get<std::uint8_t>();
  for (bool* const wish :
       {&both.remove, &both.dry_run, &both.checksum, &both.whole, &both.notes, &both.plain})
    *wish = in.get<std::uint8_t>() != 0 || *wish;
  in.end();
  if (role == static_cast<std::uint8_t>(ours.role))
    throw Error(ErrorCode::Io, ours.role == SyncRole::Sender
                                   ? "both sides want to send; give one of them --receive"
                                   : "both sides want to receive; give one of them --send");
  return both;
}

void send_list(Talk& talk, const SyncList& list) {
  talk.number(list.folder ? 1 : 0);
  // A name as what it shares with the one before, and the rest; a time against the one before.
  std::string_view before;
  std::int64_t time = 0;
  for (const SyncEntry& entry : list.entries) {
    std::size_t shared = 0;
    while (shared < before.size() && shared < entry.name.size() &&
           before[shared] == entry.name[shared])
      ++shared;
    talk.number(static_cast<std::uint64_t>(entry.kind));
    talk.number(shared);
    talk.text(std::string_view(entry.name).substr(shared));
    talk.number(entry.mode);
    talk.number(folded(static_cast<std::int64_t>(static_cast<std::uint64_t>(entry.time) -
                                                 static_cast<std::uint64_t>(time))));
    if (entry.kind == EntryKind::File) talk.number(entry.size);
    if (entry.kind == EntryKind::Link) talk.text(entry.target);
    before = entry.name;
    time = entry.time;
  }
  talk.number(static_cast<std::uint64_t>(EntryKind::End));
  send_texts(talk, list.troubles);
}

SyncList receive_list(Talk& talk) {
  SyncList list;
  list.folder = talk.number() != 0;
  std::unordered_map<std::string_view, EntryKind> known;  // the names themselves are in a list
  std::vector<std::unique_ptr<std::string>> names;
  std::string before;
  std::int64_t time = 0;
  std::uint64_t total = 0;
  for (;;) {
    const std::uint64_t kind = talk.number();
    if (kind == static_cast<std::uint64_t>(EntryKind::End)) break;
    if (kind > static_cast<std::uint64_t>(EntryKind::Link)) garbage("an entry of unknown kind");
    SyncEntry entry;
    entry.kind = static_cast<EntryKind>(kind);
    const std::uint64_t shared = talk.number();
    if (shared > before.size()) garbage("a name that continues nothing");
    entry.name = before.substr(0, static_cast<std::size_t>(shared)) + talk.text(PATH_MAX);
    if (!is_inner_name(entry.name))
      garbage("'" + entry.name + "' as a name, which leads out of the folder");
    const std::uint64_t mode = talk.number();
    if (mode > 07777) garbage("a mode that is none");
    entry.mode = static_cast<std::uint32_t>(mode);
    entry.time = static_cast<std::int64_t>(static_cast<std::uint64_t>(time) +
                                           static_cast<std::uint64_t>(unfolded(talk.number())));
    if (entry.kind == EntryKind::File) entry.size = talk.number();
    if (entry.size > INT64_MAX) garbage("a file without an end");
    if (entry.kind == EntryKind::Link) entry.target = talk.text(PATH_MAX);
    if (entry.target.find('\0') != std::string::npos) garbage("a link that leads nowhere");
    before = entry.name;
    time = entry.time;

    const std::size_t slash = entry.name.rfind('/');
    if (slash != std::string::npos) {
      const auto folder = known.find(std::string_view(entry.name).substr(0, slash));
      if (folder == known.end() || folder->second != EntryKind::Folder)
        garbage("'" + entry.name + "' without its folder");
    }
    names.push_back(std::make_unique<std::string>(entry.name));
    if (!known.emplace(*names.back(), entry.kind).second) garbage("'" + entry.name + "' twice");
    total += 2 * entry.name.size() + entry.target.size() + sizeof entry;
    if (total > 4 * most_text || list.entries.size() >= most_entries) garbage("too many names");
    if (!list.folder && (entry.kind != EntryKind::File || !list.entries.empty()))
      garbage("more than the one file that it has");
    list.entries.push_back(std::move(entry));
  }
  list.troubles = receive_texts(talk);
  return list;
}

void send_figures(Talk& talk, const SyncStats& stats) {
  for (const auto figure : figures) talk.number(stats.*figure);
  send_texts(talk, stats.troubles);
}

SyncStats receive_figures(Talk& talk) {
  SyncStats stats;
  for (const auto figure : figures) stats.*figure = talk.number();
  stats.troubles = receive_texts(talk);
  return stats;
}

void Pieces::pass_over() {
  std::byte some[4096];
  while ((*this)(some) > 0) {
  }
}

}  // namespace weir
