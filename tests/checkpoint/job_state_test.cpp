// The state of a job comes back as it was, or not at all.
#include <gtest/gtest.h>

#include <limits>

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

Window some_window() {
  return {Window::Kind::Jumping, Window::Clock::Event, 1000, 1000, true, -77, 3, 2, 1};
}

TEST(JobStateTest, AWindowComesBackAsItWas) {
  JobState job = some_job();
  EXPECT_FALSE(job_of(state_of(job))->window.has_value());
  job.window = some_window();
  const auto back = job_of(state_of(job));
  ASSERT_TRUE(back.has_value() && back->window.has_value());
  EXPECT_EQ(back->job, job.job);
  EXPECT_EQ(back->window->kind, Window::Kind::Jumping);
  EXPECT_EQ(back->window->clock, Window::Clock::Event);
  EXPECT_EQ(back->window->length, 1000u);
  EXPECT_EQ(back->window->step, 1000u);
  EXPECT_TRUE(back->window->started);
  EXPECT_EQ(back->window->now, -77);
  EXPECT_EQ(back->window->late, 3u);
  EXPECT_EQ(back->window->doubted, 2u);
  EXPECT_EQ(back->window->doubt, 1u);
}

TEST(JobStateTest, AStateWithoutAWindowIsStillOfVersionOne) {
  const auto bytes = state_of(some_job());
  EXPECT_EQ(bytes[8], std::byte{1});
}

TEST(JobStateTest, AWindowThatContradictsItselfIsRefused) {
  const auto refused = [](auto change) {
    JobState job = some_job();
    job.window = some_window();
    change(*job.window);
    EXPECT_THROW(job_of(state_of(job)), Error);
  };
  refused([](Window& w) { w.length = 0; });
  refused([](Window& w) { w.step = 0; });
  refused([](Window& w) { w.step = w.length + 1; });
  refused([](Window& w) { w.length = std::uint64_t{1} << 62; });
  refused([](Window& w) { w.now = std::int64_t{1} << 62; });
  refused([](Window& w) { w.now = std::numeric_limits<std::int64_t>::min(); });
  refused([](Window& w) { w.kind = static_cast<Window::Kind>(3); });
  refused([](Window& w) { w.clock = static_cast<Window::Clock>(3); });
  refused([](Window& w) { w.clock = Window::Clock::Records; });
}

TEST(JobStateTest, ABareSnapshotHasNone) {
  Collect sink;
  write_snapshot(*make_filter("bloom", {.memory = 16 << 10, .seed = 1}), sink);
  EXPECT_FALSE(job_of(sink.bytes).has_value());
}

TEST(JobStateTest, EveryDamagedByteAndEveryTruncationIsRefused) {
  JobState job = some_job();
  job.window = some_window();
  const auto whole = state_of(job);
  const std::size_t head = 112 + job.job.size() + 56 + 8;
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
