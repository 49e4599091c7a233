// One folder, and nothing outside it. Every name that another machine sent is taken apart and
// walked a component at a time without following links, so that neither "..", nor an absolute
// name, nor a link that somebody put in the way leads out.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/files.hpp"

namespace weir {

// What a name inside the folder may be: components between '/', none of them empty, "." or "..".
bool is_inner_name(std::string_view name);

// Nanoseconds since 1970.
inline std::int64_t modified_at(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

class SyncRoot {
 public:
  // The folder itself may be reached by links: the user named it. Throws Error(Io).
  explicit SyncRoot(const std::filesystem::path& folder);
  SyncRoot(const SyncRoot&) = delete;
  SyncRoot& operator=(const SyncRoot&) = delete;
  ~SyncRoot();

  // What is there, links not followed; nothing where nothing is.
  [[nodiscard]] std::optional<struct stat> look(const std::string& name);
  [[nodiscard]] InputFile open(const std::string& name);
  [[nodiscard]] std::string link_target(const std::string& name);
  // Names in a folder; "" is the folder itself.
  [[nodiscard]] std::vector<std::string> list(const std::string& folder);

  void make_folder(const std::string& name);
  void make_link(const std::string& name, const std::string& target);  // replaces file or link
  void remove(const std::string& name, bool folder);
  // Of a file or folder; the time also of a link.
  void set_mode(const std::string& name, mode_t mode);
  void set_time(const std::string& name, std::int64_t nanoseconds);
  void sync_folder(const std::string& folder);
  // All of the file system that it is on: cheaper than one by one where the files are many.
  void sync_all();

  // A file that is being written beside its place: without a name until it is complete, where the
  // file system can do that, so that not even a kill leaves anything behind.
  class Pending {
   public:
    Pending(SyncRoot& root, std::string name);
    Pending(Pending&& other) noexcept;
    Pending& operator=(Pending&&) = delete;
    ~Pending();  // gone, unless it was placed
    [[nodiscard]] int fd() const noexcept { return fd_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    // Complete: mode and time; the system begins to write it out.
    void dress(mode_t mode, std::int64_t nanoseconds);
    // In its place, instead of the file or link that is there.
    void place(bool durable);

   private:
    // Tries names until one is free.
    template <class Make>
    void named(const Make& make);

    SyncRoot* root_;
    std::string name_, temporary_;  // the latter is empty as long as there is none
    int fd_ = -1;
  };

 private:
  struct Place {
    int folder;
    const char* last;  // the component in it
  };
  Place place(const std::string& name);
  int open_folder(std::string_view name);
  [[noreturn]] void fail(const char* what, const std::string& name) const;

  std::string shown_;
  int fd_ = -1;
  // The folder of the last call stays open: names come folder by folder.
  std::string recent_name_;
  int recent_ = -1;
};

}  // namespace weir
