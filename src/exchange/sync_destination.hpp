// The receiver's folder: what is there, what is put there, and what is removed. In a dry run it
// only says so.
#pragma once

#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "exchange/sync_root.hpp"
#include "exchange/sync_wire.hpp"

namespace weir {

class Destination {
 public:
  // No root: it is not there, and a dry run does not make it.
  Destination(Talk& talk, SyncRoot* root, const SyncList& list, const Wishes& wishes,
              const SyncOptions& options);
  [[nodiscard]] SyncRoot* root() const noexcept { return root_; }

  std::optional<struct stat> look(const std::string& name);
  // Something of another kind is there. A folder with contents only goes with leave to remove.
  bool make_way(const SyncEntry& entry, bool is_folder);
  void make_folder(const SyncEntry& entry);
  void make_link(const SyncEntry& entry, bool there);  // where it is not the same
  // A file whose contents are right.
  void alike(const SyncEntry& entry, const struct stat& there);
  // A file that is complete, to be put in place with others.
  void add(SyncRoot::Pending pending, const SyncEntry& entry, bool there);
  void place_pending();
  // When all files are there: removes, and gives folders their modes and times.
  void finish();

  void note(std::string_view what, const std::string& name);
  // Whatever the sender wants to be told; in our turn.
  void send_notes();

  SyncStats stats;

 private:
  void remove_surplus();
  void remove_tree(const std::string& name);
  void remove_one(const std::string& name, bool folder);
  void finish_folders();

  Talk& talk_;
  SyncRoot* root_;
  const SyncList& list_;
  Wishes wishes_;
  const SyncOptions& options_;
  std::vector<SyncRoot::Pending> pending_;
  std::uint64_t pending_bytes_ = 0;
  std::set<std::string> touched_;           // folders with new files
  std::unordered_set<std::string> absent_;  // what a dry run would have made, removed or replaced
  std::vector<std::pair<std::string, std::string>> notes_;
};

}  // namespace weir
