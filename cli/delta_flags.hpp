// What weir signature, delta and patch have in common: where the result goes, its format, the
// report.
#pragma once

#include <functional>
#include <string>

#include "flags.hpp"
#include "signals.hpp"
#include "weir/sync.hpp"

namespace weir::cli {

struct DeltaFlags {
  std::string output, stats;
  bool quiet = false, rdiff = false;

  void declare_output(Command& command);                       // -o
  void declare_rdiff(Command& command, const char* lacking);   // --rdiff
  void declare_stats(Command& command, const char* contents);  // --stats, -q
  // To the file as a whole, or to standard output, which may not be a terminal.
  void write(const std::function<void(ByteSink&)>& write) const;
};

// SIGINT and SIGTERM end the work between two reads, so that no temporary file is left; then, where
// this object ends, the process ends by that signal.
class EndInOrder {
 public:
  EndInOrder() = default;
  EndInOrder(const EndInOrder&) = delete;
  EndInOrder& operator=(const EndInOrder&) = delete;
  ~EndInOrder();
  // Throws when a signal has come.
  void check() const;
  // The reader, with that check.
  ReadSome watch(ReadSome in);

 private:
  [[nodiscard]] bool came() const;
  StopOnSignal signals_;
};

// A bad signature or delta, with its name in front.
[[noreturn]] void rethrow_naming(const std::string& file);

}  // namespace weir::cli
