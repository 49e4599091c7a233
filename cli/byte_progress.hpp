// A line on the terminal for work that goes through bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "weir/sync.hpp"

namespace weir::cli {

class ByteProgress {
 public:
  // Shows nothing where `quiet`, or where stderr is no terminal.
  explicit ByteProgress(bool quiet);
  ByteProgress(const ByteProgress&) = delete;
  ByteProgress& operator=(const ByteProgress&) = delete;
  ~ByteProgress();

  // The reader that counts what goes through it; of `total` bytes, 0: unknown.
  ReadSome watch(ReadSome in, std::uint64_t total);
  // Says how it stands, a few times a second. `what` goes in front, as a file's name.
  void at(std::uint64_t bytes, std::uint64_t total, const std::string& what = {});
  [[nodiscard]] double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool silent_, shown_ = false;
  Clock::time_point began_ = Clock::now(), last_ = Clock::now();
  std::uint64_t read_ = 0;
};

}  // namespace weir::cli
