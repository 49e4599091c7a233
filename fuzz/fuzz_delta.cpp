// Any bytes as a signature, as a delta to a fixed old file, and as the list and the steps of
// weir sync: refused with one sentence, or used without harm. Containers are tried as they are and
// with a correct checksum.
#define XXH_INLINE_ALL
#include <sys/socket.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "../tests/exchange/delta_testing.hpp"
#include "exchange/patcher.hpp"
#include "exchange/sync_script.hpp"
#include "exchange/sync_wire.hpp"
#include "weir/error.hpp"

namespace {

using namespace weir;
constexpr std::uint64_t most_written = 1 << 20;

void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

template <class Act>
void refused_or_done(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    const std::string_view sentence = error.what();
    require(error.code() == ErrorCode::BadState || error.code() == ErrorCode::Io,
            "a refusal is a BadState or an Io error");
    require(!sentence.empty() && sentence.find('\n') == sentence.npos, "a refusal is one sentence");
  }
}

const test::Bytes& old_file() {
  static const test::Bytes bytes = [] {
    std::mt19937_64 random(1);
    return test::random_bytes(random, 3000);
  }();
  return bytes;
}

void as_files(const test::Bytes& bytes) {
  refused_or_done([&] {
    const Signature signature = Signature::read(test::reading(bytes));
    test::BytesSink delta;
    const DeltaStats stats = write_delta(signature, test::reading(old_file()), delta);
    require(stats.copied + stats.literal == old_file().size(), "a delta makes the whole new file");
  });
  refused_or_done([&] {
    test::BytesSink out;
    apply_delta(test::reading_at(old_file()), old_file().size(), test::reading(bytes), out,
                {.most = most_written});
    require(out.bytes.size() <= most_written, "no more is written than allowed");
  });
}

// As what the other side sends, in a message of data.
void as_talk(const test::Bytes& bytes) {
  for (const int what : {0, 1, 2}) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
    {
      Channel other(ends[1], ends[1], "the fuzzer", {.timeout = 1});
      other.send(Channel::First + 1, bytes);
      other.flush();
    }
    refused_or_done([&] {
      Channel channel(ends[0], ends[0], "the other side", {.timeout = 1});
      Talk talk(channel, 0);
      if (what == 0) {
        for (const SyncEntry& entry : receive_list(talk).entries)
          require(entry.name.find("..") == entry.name.npos || entry.name.size() > 2,
                  "no name leads out");
      } else if (what == 1) {
        const Script plan = receive_plan(talk, old_file().size(), most_written);
        require(never_copied(plan, old_file().size()).size() <= old_file().size(),
                "what is left of a file is no more than the file");
      } else {
        test::BytesSink out;
        const ReadAt old = test::reading_at(old_file());
        Patcher patcher(old, old_file().size(), out, most_written);
        ScriptCommands commands(talk);
        patcher.run(commands, "beyond the end");
      }
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* const first = reinterpret_cast<const std::byte*>(data);
  test::Bytes bytes(first, first + size);
  as_files(bytes);
  if (size <= (32 << 10)) as_talk(bytes);
  if (size < 64) return 0;
  const std::uint64_t sum = XXH3_64bits(bytes.data(), size - sizeof sum);
  std::memcpy(bytes.data() + size - sizeof sum, &sum, sizeof sum);
  as_files(bytes);
  return 0;
}
