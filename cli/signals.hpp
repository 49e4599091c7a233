// SIGINT and SIGTERM as a descriptor that becomes readable.
#pragma once

namespace weir::cli {

class StopOnSignal {
 public:
  // One at a time. Throws Error(Io).
  StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  ~StopOnSignal();

  [[nodiscard]] int fd() const noexcept { return read_end_; }
  // Ends the process by the signal that came, as if it had not been caught: whoever waits for it
  // sees what happened.
  void end_by_it();

 private:
  int read_end_;
};

// SIGUSR1 as a descriptor that becomes readable, again and again.
class AskedBySignal {
 public:
  // One at a time. Throws Error(Io).
  AskedBySignal();
  AskedBySignal(const AskedBySignal&) = delete;
  AskedBySignal& operator=(const AskedBySignal&) = delete;
  ~AskedBySignal();

  [[nodiscard]] int fd() const noexcept { return read_end_; }
  // Whether it came since the last call.
  bool asked();

 private:
  int read_end_;
};

}  // namespace weir::cli
