#include "exchange/sync_destination.hpp"

namespace weir {
namespace {

// So many files wait to be placed together: their way to the disk overlaps.
constexpr std::size_t most_pending = 256, most_one_by_one = 4;
constexpr std::uint64_t most_pending_bytes = 64 << 20;

}  // namespace

Destination::Destination(Talk& talk, SyncRoot* root, const SyncList& list, const Wishes& wishes,
                         const SyncOptions& options)
    : talk_(talk), root_(root), list_(list), wishes_(wishes), options_(options) {
  stats.troubles = list.troubles;
}

std::optional<struct stat> Destination::look(const std::string& name) {
  if (root_ == nullptr) return {};
  const std::size_t slash = name.rfind('/');
  if (slash != std::string::npos && absent_.contains(name.substr(0, slash))) {
    absent_.insert(name);  // and all below it
    return {};
  }
  return root_->look(name);
}

bool Destination::make_way(const SyncEntry& entry, bool is_folder) {
  if (is_folder && !wishes_.remove && !root_->list(entry.name).empty()) {
    stats.troubles.push_back(entry.name +
                             " is a folder with contents here: it stays without --delete");
    return false;
  }
  place_pending();
  if (is_folder)
    remove_tree(entry.name);
  else
    remove_one(entry.name, false);
  if (wishes_.dry_run) absent_.insert(entry.name);
  return true;
}

void Destination::make_folder(const SyncEntry& entry) {
  note("new", entry.name + "/");
  ++stats.made;
  if (wishes_.dry_run)
    absent_.insert(entry.name);
  else
    root_->make_folder(entry.name);
}

void Destination::make_link(const SyncEntry& entry, bool there) {
  if (there && root_->link_target(entry.name) == entry.target) {
    ++stats.alike;
    return;
  }
  note(there ? "update" : "new", entry.name);
  ++(there ? stats.updated : stats.made);
  if (wishes_.dry_run) return;
  root_->make_link(entry.name, entry.target);
  root_->set_time(entry.name, entry.time);
}

void Destination::alike(const SyncEntry& entry, const struct stat& there) {
  ++stats.alike;
  if (wishes_.dry_run) return;
  if ((there.st_mode & 0777) != (entry.mode & 0777)) root_->set_mode(entry.name, entry.mode);
  if (modified_at(there) != entry.time) root_->set_time(entry.name, entry.time);
}

void Destination::add(SyncRoot::Pending pending, const SyncEntry& entry, bool there) {
  note(there ? "update" : "new", entry.name);
  ++(there ? stats.updated : stats.made);
  pending.dress(entry.mode, entry.time);
  pending_bytes_ += entry.size;
  pending_.push_back(std::move(pending));
  if (pending_.size() >= most_pending || pending_bytes_ >= most_pending_bytes) place_pending();
}

void Destination::place_pending() {
  const bool together = options_.durable && pending_.size() > most_one_by_one;
  if (together) root_->sync_all();
  for (SyncRoot::Pending& pending : pending_) {
    pending.place(options_.durable && !together);
    const std::size_t slash = pending.name().rfind('/');
    touched_.insert(slash == std::string::npos ? "" : pending.name().substr(0, slash));
  }
  pending_.clear();
  pending_bytes_ = 0;
}

void Destination::finish() {
  place_pending();
  if (wishes_.remove && list_.folder) remove_surplus();
  if (root_ != nullptr && !wishes_.dry_run) finish_folders();
}

void Destination::remove_surplus() {
  if (root_ == nullptr) return;
  if (!list_.troubles.empty()) {
    stats.troubles.emplace_back(
        "nothing was removed, because the other side could not read all that it has");
    return;
  }
  std::unordered_set<std::string_view> listed;
  for (const SyncEntry& entry : list_.entries) listed.insert(entry.name);
  const auto sweep = [&](const std::string& folder) {
    for (const std::string& one : root_->list(folder)) {
      const std::string name = folder.empty() ? one : folder + "/" + one;
      if (listed.contains(name)) continue;
      const auto there = root_->look(name);
      if (!there) continue;
      if (S_ISDIR(there->st_mode))
        remove_tree(name);
      else
        remove_one(name, false);
    }
  };
  sweep("");
  for (const SyncEntry& entry : list_.entries)
    if (entry.kind == EntryKind::Folder && !absent_.contains(entry.name)) sweep(entry.name);
}

void Destination::remove_tree(const std::string& name) {
  talk_.still_here();
  for (const std::string& one : root_->list(name)) {
    const std::string inner = name + "/" + one;
    const auto there = root_->look(inner);
    if (there && S_ISDIR(there->st_mode))
      remove_tree(inner);
    else if (there)
      remove_one(inner, false);
  }
  remove_one(name, true);
}

void Destination::remove_one(const std::string& name, bool folder) {
  note("remove", folder ? name + "/" : name);
  ++stats.removed;
  if (!wishes_.dry_run) root_->remove(name, folder);
}

// In the end, and from the inside out: work in a folder changes its time, and its mode may forbid
// work.
void Destination::finish_folders() {
  if (options_.durable && touched_.size() > most_one_by_one)
    root_->sync_all();
  else if (options_.durable)
    for (const std::string& folder : touched_) root_->sync_folder(folder);
  for (auto entry = list_.entries.rbegin(); entry != list_.entries.rend(); ++entry) {
    if (entry->kind != EntryKind::Folder) continue;
    const auto there = root_->look(entry->name);
    if (!there || !S_ISDIR(there->st_mode)) continue;
    if (modified_at(*there) != entry->time) root_->set_time(entry->name, entry->time);
    if ((there->st_mode & 0777) != (entry->mode & 0777)) root_->set_mode(entry->name, entry->mode);
  }
}

void Destination::note(std::string_view what, const std::string& name) {
  if (options_.note) options_.note(what, name);
  if (wishes_.notes) notes_.emplace_back(what, name);
}

void Destination::send_notes() {
  for (const auto& [what, name] : notes_) {
    talk_.number(static_cast<std::uint64_t>(SyncRequest::Note));
    talk_.text(what);
    talk_.text(name);
  }
  notes_.clear();
}

}  // namespace weir
