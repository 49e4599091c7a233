// Any bytes as a state file: refused with one sentence, or a structure that works like any other.
// Each input is tried as it is and with correct checksums, since damage that a checksum finds
// never reaches the checks behind it.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "../tests/checkpoint/any_structure.hpp"
#include "../tests/checkpoint/forger.hpp"
#include "checkpoint/job_state.hpp"

namespace {

using namespace weir;

void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

bool is_share(double value) { return value >= 0 && value <= 1; }

void use(Structure& structure) {
  test::drive(structure, test::repeating_stream(100, 30, 2));
  const Health health = structure.health();
  require(is_share(health.fill) && is_share(health.fpr), "fill and FPR are shares");

  const StructurePtr again = test::structure_of(test::snapshot_of(structure));
  const auto more = test::repeating_stream(100, 30, 3);
  require(test::drive(*again, more) == test::drive(structure, more),
          "a loaded copy goes on as the original");
}

void load(const test::Bytes& bytes) {
  StructurePtr loaded;
  try {
    loaded = test::structure_of(bytes);
  } catch (const Error& error) {
    const std::string_view sentence = error.what();
    require(error.code() == ErrorCode::BadState, "a refusal is a BadState error");
    require(!sentence.empty() && sentence.find('\n') == sentence.npos, "a refusal is one sentence");
    return;
  }
  use(*loaded);
}

// With the state of a job in front, as a whole file is read.
void load_with_job(std::span<const std::byte> bytes) {
  try {
    SpanSource all(bytes);
    BehindJobState behind(all);
    read_snapshot(behind);
    require(!behind.job() || behind.job()->first <= behind.job()->records,
            "a job's figures do not contradict each other");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::BadState, "a refusal is a BadState error");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* const first = reinterpret_cast<const std::byte*>(data);
  test::Bytes bytes(first, first + size);
  load(bytes);
  load_with_job(bytes);
  test::reseal(bytes);
  load(bytes);
  return 0;
}
