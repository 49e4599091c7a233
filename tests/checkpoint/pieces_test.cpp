// A state in pieces is the state in one: the same bytes, the same refusals; and a copy is one.
#include "checkpoint/job_state.hpp"
#include "snapshot_testing.hpp"

namespace weir::test {
namespace {

class StateInPieces : public EveryStructure {};
WEIR_FOR_EVERY_STRUCTURE(StateInPieces);

JobState job_with_window() {
  JobState job;
  job.window = Window{.clock = Window::Clock::Arrival, .length = 60, .step = 4, .started = true};
  return job;
}

Bytes written(const Structure& structure, const JobState* job) {
  BytesSink sink;
  StateWriter writer(structure, job, 1234);
  while (!writer.done()) writer.write_piece(sink);
  EXPECT_EQ(sink.bytes.size(), writer.size());
  return sink.bytes;
}

TEST_P(StateInPieces, AnyCutOfTheBytesGivesTheStructure) {
  const StructurePtr original = make_used(info(), 700 << 10);
  const JobState job = job_with_window();
  for (const JobState* front : {static_cast<const JobState*>(nullptr), &job}) {
    const Bytes bytes = written(*original, front);
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{7}, std::size_t{5000}, std::size_t{300'000}, bytes.size()}) {
      StateReader reader(~std::uint64_t{0});
      for (std::size_t at = 0; at < bytes.size(); at += piece) {
        ASSERT_FALSE(reader.done());
        reader.take(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
      }
      ASSERT_TRUE(reader.done());
      EXPECT_EQ(reader.taken(), bytes.size());
      ASSERT_EQ(reader.job().has_value(), front != nullptr);
      if (front != nullptr) {
        EXPECT_EQ(reader.job()->window->length, 60u);
      }
      EXPECT_EQ(reader.memory(), original->memory());
      EXPECT_EQ(written(*std::move(reader).structure(), front), bytes);
    }
  }
}

TEST_P(StateInPieces, WholeFilesAndPiecesAreTheSameBytes) {
  const StructurePtr original = make_used(info(), 600 << 10);
  Bytes whole = snapshot_of(*original);
  Bytes pieces = written(*original, nullptr);
  ASSERT_EQ(whole.size(), pieces.size());
  const std::size_t time = 40;  // the moment of saving, and the checksums that cover it
  std::uint32_t header;
  std::memcpy(&header, whole.data() + 12, 4);
  for (const std::size_t at : {time, std::size_t{header} - 8, whole.size() - 8})
    std::fill_n(whole.begin() + static_cast<std::ptrdiff_t>(at), 8, std::byte{}),
        std::fill_n(pieces.begin() + static_cast<std::ptrdiff_t>(at), 8, std::byte{});
  EXPECT_EQ(whole, pieces);
}

TEST_P(StateInPieces, WhatIsDamagedTooLongOrTooLargeIsRefused) {
  const StructurePtr original = make_used(info(), 16384);
  const JobState job = job_with_window();
  Bytes bytes = written(*original, &job);
  const auto read = [&](std::uint64_t most) {
    StateReader reader(most);
    for (std::size_t at = 0; at < bytes.size(); at += 100)
      reader.take(std::span(bytes).subspan(at, std::min<std::size_t>(100, bytes.size() - at)));
    if (!reader.done()) throw Error(ErrorCode::BadState, "not whole");
  };
  EXPECT_NO_THROW(read(original->memory()));
  EXPECT_EQ(refusal_fault([&] { read(original->memory() - 1); }), "");
  for (std::size_t at = 0; at < bytes.size(); at += 61) {
    bytes[at] ^= std::byte{4};
    ASSERT_EQ(refusal_fault([&] { read(1 << 20); }), "") << at;
    bytes[at] ^= std::byte{4};
  }
  bytes.push_back({});
  EXPECT_EQ(refusal_fault([&] { read(1 << 20); }), "");
}

TEST_P(StateInPieces, AReaderHandsOnWhatItTook) {
  const StructurePtr original = make_used(info(), 300 << 10);
  const JobState job = job_with_window();
  for (const JobState* front : {static_cast<const JobState*>(nullptr), &job}) {
    const Bytes bytes = written(*original, front);
    std::vector<std::size_t> cuts = {0, 1, 15, 16, 17, 100, 111, 112, 176, 177, 300, 500, 700};
    for (std::size_t at = 1000; at < bytes.size(); at += 9973) cuts.push_back(at);
    for (std::size_t back = 1; back < 600; back += 3) cuts.push_back(bytes.size() - back);
    for (const std::size_t cut : cuts) {
      StateReader first(~std::uint64_t{0});
      first.take(std::span(bytes).first(cut));
      BytesSink handed;
      first.write_taken(handed);
      ASSERT_EQ(handed.bytes,
                Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)))
          << cut;
    }
  }
}

TEST_P(StateInPieces, ACopyGoesOnLikeItsOriginal) {
  for (const std::uint32_t shards : {1u, 3u}) {
    const StructurePtr original = make_used(info(), shards * 8192, shards);
    const StructurePtr copy = copy_of(*original);
    EXPECT_EQ(written(*copy, nullptr), written(*original, nullptr));
    const auto stream = repeating_stream(5000, 1500, 9);
    EXPECT_EQ(drive(*copy, stream), drive(*original, stream));
    EXPECT_EQ(written(*copy, nullptr), written(*original, nullptr));
  }
}

}  // namespace
}  // namespace weir::test
