// Any bytes as a saved sample: refused with one sentence, or a sample that works: it takes records,
// holds no more than it may, and a saved and loaded copy goes on alike. Each input is tried as it
// is and with a correct checksum.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/bits.hpp"
#include "sample/record_sampler.hpp"
#include "weir/error.hpp"

namespace {

using namespace weir;
using Bytes = std::vector<std::byte>;

void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

class Sink final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override {
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  Bytes all;
};
Bytes saved(const RecordSampler& sample) {
  Sink sink;
  sample.write(sink);
  return sink.all;
}
RecordSampler loaded(const Bytes& bytes) {
  SpanSource source(bytes);
  return RecordSampler::read(source);
}

void feed(RecordSampler& sample) {
  for (std::uint64_t i = 0; i < 50; ++i)
    sample.offer("record", static_cast<std::uint32_t>(i % 7 + 1), mix(i % 20, 5));
}

void load(const Bytes& bytes) {
  try {
    RecordSampler sample = loaded(bytes);
    RecordSampler copy = loaded(saved(sample));
    feed(sample), feed(copy);
    require(sample.held().size() <= sample.capacity(), "no more is held than asked for");
    require(saved(sample) == saved(copy), "a loaded copy goes on as the original");
  } catch (const Error& error) {
    const std::string_view sentence = error.what();
    require(error.code() == ErrorCode::BadState, "a refusal is a BadState error");
    require(!sentence.empty() && sentence.find('\n') == sentence.npos, "a refusal is one sentence");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto all = std::as_bytes(std::span(data, size));
  Bytes bytes(all.begin(), all.end());
  load(bytes);
  if (size < 8) return 0;
  const std::uint64_t sum = XXH3_64bits(bytes.data(), size - 8);
  std::memcpy(bytes.data() + size - 8, &sum, 8);
  load(bytes);
  return 0;
}
