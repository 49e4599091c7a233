// The state of a job, in front of the snapshot of its structure.
#pragma once

#include <optional>
#include <string>

#include "weir/snapshot.hpp"

namespace weir {

void write_job_state(const JobState& job, ByteSink& sink);

// How many bytes a job's state takes that begins like this, 0 when none does. Throws
// Error(BadState).
inline constexpr std::size_t job_state_begin = 16;
std::uint64_t job_state_bytes(std::span<const std::byte, job_state_begin> begin);

// Reads the job's state if one is there; what is left is the snapshot. Throws Error(BadState).
class BehindJobState final : public ByteSource {
 public:
  explicit BehindJobState(ByteSource& all);
  void read(std::span<std::byte> bytes) override;
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] const std::optional<JobState>& job() const { return job_; }

 private:
  ByteSource& all_;
  std::uint64_t size_;
  std::string held_;  // looked at, but not part of a job's state
  std::optional<JobState> job_;
};

}  // namespace weir
