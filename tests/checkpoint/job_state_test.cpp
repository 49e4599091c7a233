// The state of a job comes back as it was, or not at all.
#include <gtest/gtest.h>

#include "checkpoint/job_state.hpp"
#include "checkpoint/snapshot_testing.hpp"

namespace weir {
namespace {

class Collect final : public ByteSink {
 public:
  void write(std::span<const std::byte> more) override {
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  std::vector<std::byte> bytes;
};

JobState some_job() {
  JobState job;
  job.job = "input a.log\nrecords lines\noutput out";
  job.input = 3;
  job.offset = 1ULL << 40, job.ordinal = 77;
  job.fingerprint = {4096, 0x1234567890abcdef};
  job.output_bytes = 5, job.repeats_bytes = 6;
  job.output_open = true;
  job.records = 100, job.bytes = 9999, job.first = 60, job.repeats = 30, job.bad = 10;
  return job;
}

std::vector<std::byte> state_of(const JobState& job) {
  Collect sink;
  write_job_state(job, sink);
  write_snapshot(*make_filter("bloom", {.memory = 16 << 10, .seed = 1}), sink);
  return sink.bytes;
}

std::optional<JobState> job_of(std::span<const std::byte> bytes) {
  SpanSource all(bytes);
  BehindJobState behind(all);
  read_snapshot(behind);
  return behind.job();
}

TEST(JobStateTest, ComesBackAsItWas) {
  const JobState job = some_job();
  const auto back = job_of(state_of(job));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->job, job.job);
  EXPECT_FALSE(back->complete);
  EXPECT_EQ(back->input, job.input);
  EXPECT_EQ(back->offset, job.offset);
  EXPECT_EQ(back->ordinal, job.ordinal);
  EXPECT_EQ(back->fingerprint.bytes, job.fingerprint.bytes);
  EXPECT_EQ(back->fingerprint.hash, job.fingerprint.hash);
  EXPECT_EQ(back->output_bytes, job.output_bytes);
  EXPECT_EQ(back->repeats_bytes, job.repeats_bytes);
  EXPECT_TRUE(back->output_open);
  EXPECT_FALSE(back->repeats_open);
  EXPECT_EQ(back->records, job.records);
  EXPECT_EQ(back->bytes, job.bytes);
  EXPECT_EQ(back->first, job.first);
  EXPECT_EQ(back->repeats, job.repeats);
  EXPECT_EQ(back->bad, job.bad);
}

TEST(JobStateTest, ABareSnapshotHasNone) {
  Collect sink;
  write_snapshot(*make_filter("bloom", {.memory = 16 << 10, .seed = 1}), sink);
  EXPECT_FALSE(job_of(sink.bytes).has_value());
}

TEST(JobStateTest, EveryDamagedByteAndEveryTruncationIsRefused) {
  const auto whole = state_of(some_job());
  const std::size_t head = 112 + some_job().job.size() + 8;
  for (std::size_t i = 0; i < head + 300; ++i) {
    auto damaged = whole;
    damaged[i] ^= std::byte{0x10};
    EXPECT_THROW(job_of(damaged), Error) << "byte " << i;
  }
  for (std::size_t length = 0; length < whole.size(); length += length < head + 10 ? 1 : 997)
    EXPECT_THROW(job_of(std::span(whole).first(length)), Error) << length << " bytes";
}

TEST(JobStateTest, ContradictionsWithACorrectChecksumAreRefused) {
  JobState job = some_job();
  job.first = job.records + 1;
  EXPECT_THROW(job_of(state_of(job)), Error);
  job = some_job();
  job.fingerprint.bytes = 4097;
  EXPECT_THROW(job_of(state_of(job)), Error);
}

}  // namespace
}  // namespace weir
