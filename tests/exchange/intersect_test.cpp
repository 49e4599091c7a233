// Two sides in two threads: the answer is exact, the bytes are what the formula says, and a peer
// that lies is caught.
#include "weir/intersect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "exchange/intersect_words.hpp"
#include "exchange/message.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

using testing::HasSubstr;
using Keys = std::vector<std::string>;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name, const Keys& lines) const {
    std::ofstream out(path_ / name, std::ios::binary);
    for (const std::string& line : lines) out << line << '\n';
    return path_ / name;
  }
  [[nodiscard]] std::string at(const std::string& name) const { return path_ / name; }
  [[nodiscard]] Keys read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    Keys lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

 private:
  std::filesystem::path path_;
};

struct Both {
  IntersectStats here, there;
  Keys written;
};
Both run(const Keys& here, const Keys& there, IntersectOptions options = {},
         std::uint64_t their_memory = 1 << 24) {
  const Folder folder;
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  IntersectOptions theirs;
  theirs.records.inputs = {folder.file("there", there)};
  theirs.memory = their_memory;
  options.records.inputs = {folder.file("here", here)};
  options.records.output = folder.at("out");
  Both both;
  std::thread other([&] {
    Channel channel(ends[1], ends[1], "this side", {});
    both.there = serve_intersect(channel, theirs);
  });
  Channel channel(ends[0], ends[0], "the other side", {});
  both.here = intersect(channel, options);
  other.join();
  both.written = folder.read("out");
  return both;
}

IntersectOptions in(std::uint64_t memory, IntersectOptions::Write write, bool every = false) {
  IntersectOptions options;
  options.memory = memory;
  options.write = write;
  options.every_record = every;
  return options;
}

Keys numbers(int from, int to) {
  Keys keys;
  for (int i = from; i < to; ++i)
    keys.push_back("https://example.org/item/" +
                   std::to_string(mix(static_cast<std::uint64_t>(i), 1)));
  return keys;
}

RC_GTEST_PROP(Intersect, IsExactForAnySets, ()) {
  const auto key = rc::gen::map(rc::gen::inRange(0, 40), [](int n) {
    return n == 39 ? std::string(300, 'x')
                   : std::string(static_cast<std::size_t>(n % 5), 'k') + std::to_string(n);
  });
  const auto here = *rc::gen::container<Keys>(key), there = *rc::gen::container<Keys>(key);
  const auto write =
      *rc::gen::element(IntersectOptions::Write::Common, IntersectOptions::Write::OnlyHere);
  const bool every = *rc::gen::arbitrary<bool>();
  const Both both = run(here, there, in(4096, write, every), 4096);
  const std::set<std::string> others(there.begin(), there.end());
  std::set<std::string> met, all(here.begin(), here.end());
  Keys expected;
  for (const std::string& line : here)
    if (others.contains(line) == (write == IntersectOptions::Write::Common) &&
        (met.insert(line).second || every))
      expected.push_back(line);
  RC_ASSERT(both.written == expected);
  RC_ASSERT(both.here.here == all.size());
  RC_ASSERT(both.here.there == others.size());
  all.insert(others.begin(), others.end());
  RC_ASSERT(both.here.either() == all.size());
}

TEST(Intersect, CostsWhatTheFormulaSays) {
  const Both both = run(numbers(0, 20'000), numbers(15'000, 60'000));
  EXPECT_EQ(both.here.both, 5'000u);
  EXPECT_EQ(both.written.size(), 5'000u);
  const double wrong = static_cast<double>(both.here.keys_sent - 5'000);
  const double expected = both.here.plan.fpr * 40'000;
  EXPECT_NEAR(wrong, expected, 3 * std::sqrt(expected));
  // What a key costs is taken from a sample, and more keys are compressed a little better.
  const auto moved = static_cast<double>(both.here.sent + both.here.received);
  EXPECT_NEAR(moved, both.here.expected, 0.1 * both.here.expected);
  EXPECT_LT(moved, 0.2 * static_cast<double>(both.here.key_bytes_there));
  EXPECT_EQ(both.here.sent, both.there.received);
  EXPECT_EQ(both.here.received, both.there.sent);
}

TEST(Intersect, SetsLargerThanTheMemoryAreReadMoreOften) {
  for (const std::uint64_t memory : {16u << 10, 64u << 10, 1u << 24}) {
    const Both both = run(numbers(0, 5'000), numbers(2'000, 9'000),
                          in(memory, IntersectOptions::Write::Common), memory);
    EXPECT_EQ(both.written, numbers(2'000, 5'000)) << memory;
    if (memory < 1 << 20) {
      EXPECT_GT(both.here.readings, 10u);
    } else {
      EXPECT_EQ(both.here.readings, 4u);
    }
    if (memory == 16 << 10) {
      EXPECT_GT(both.here.plan.parts, 1u);
    }
  }
}

TEST(Intersect, EmptyAndEqualAndShortOnes) {
  EXPECT_EQ(run({}, {}).here.either(), 0u);
  EXPECT_EQ(run({}, {"a"}).here.either(), 1u);
  EXPECT_EQ(run({"a"}, {}).here.either(), 1u);
  EXPECT_EQ(run({""}, {""}).written, Keys{""});
  const Keys all = numbers(0, 1'000);
  EXPECT_EQ(run(all, all).written, all);
}

TEST(IntersectPlan, SendsEverythingWhereAFilterWouldCostMore) {
  EXPECT_EQ(plan_intersection(1e6, 10, 20, 1 << 30).filter.m, 0u);
  EXPECT_EQ(plan_intersection(1e6, 0, 0, 1 << 30).filter.m, 0u);
  const IntersectPlan plan = plan_intersection(1e6, 1e6, 20, 1 << 30);
  EXPECT_LT(plan.cost, plan.plain_cost);
  EXPECT_LT(plan.plain_cost, 20e6);
  // The plain optimum by its formula: no other rate is cheaper.
  for (const double f : {0.001, 0.005, 0.01, 0.02, 0.05, 0.1})
    EXPECT_LE(plan.plain_cost, 1e6 * std::log2(1 / f) / (8 * std::log(2)) + f * 20e6 + 1) << f;
}

// What this side says of a peer that behaves so; the set here is a, b, c.
std::string met(const std::function<void(Channel&)>& behave) {
  const Folder folder;
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  std::thread other([&] {
    try {
      Channel channel(ends[1], ends[1], "this side", {.timeout = 5});
      channel.greet("intersect", words::version);
      behave(channel);
      channel.flush();
      for (;;) channel.receive();
    } catch (const Error&) {  // we were hung up on
    }
  });
  std::string sentence;
  IntersectOptions options;
  options.records.inputs = {folder.file("here", numbers(0, 100))};
  options.records.output = folder.at("out");
  {
    Channel channel(ends[0], ends[0], "the other side", {.timeout = 5});
    try {
      intersect(channel, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Io);
      sentence = error.what();
      channel.fail(sentence);
    }
  }
  other.join();
  EXPECT_FALSE(std::filesystem::exists(folder.at("out")));
  return sentence;
}
MessageWriter count(std::uint64_t keys, double wire_bytes = 20, std::uint64_t memory = 1 << 20) {
  MessageWriter message;
  message.put(keys).put(keys * 20).put(wire_bytes).put(memory);
  return message;
}
// Hears the question, answers with these keys.
void answer(Channel& channel, const Keys& keys, std::uint64_t said) {
  channel.receive(words::Begin);
  channel.send(words::Count, count(50).bytes());
  channel.receive(words::Part);
  words::KeyWriter writer([&](auto piece) { channel.send(words::Keys, piece); });
  for (const std::string& key : keys) writer.put(key);
  writer.end();
  MessageWriter end;
  end.put(said);
  channel.send(words::End, end.bytes());
}

TEST(Intersect, CatchesAPeerThatLies) {
  EXPECT_THAT(met([](Channel& c) { c.send(words::Count, count(~0ull).bytes()); }),
              HasSubstr("impossibly many keys"));
  EXPECT_THAT(met([](Channel& c) { c.send(words::Count, count(5, std::nan("")).bytes()); }),
              HasSubstr("impossibly many keys"));
  EXPECT_THAT(met([](Channel& c) { c.send(words::Count, {}); }), HasSubstr("wrong length"));
  EXPECT_THAT(met([](Channel& c) { c.send(words::Pause, {}); }), HasSubstr("garbage"));
  EXPECT_THAT(met([](Channel& c) { answer(c, numbers(0, 60), 60); }),
              HasSubstr("more keys than it has"));
  EXPECT_THAT(met([](Channel& c) { answer(c, numbers(0, 5), 6); }), HasSubstr("miscounts"));
  EXPECT_THAT(met([](Channel& c) {
                c.receive(words::Begin);
                c.send(words::Count, count(50).bytes());
                c.receive(words::Part);
                c.send(words::Keys, std::as_bytes(std::span("no zstd")));
              }),
              HasSubstr("garbage instead of keys"));
  EXPECT_THAT(met([](Channel& c) {
                c.receive(words::Begin);
                c.send(words::Count, count(50).bytes());
                c.receive(words::Part);
                c.send(words::Pause, {});
              }),
              HasSubstr("pauses without"));
  EXPECT_THAT(met([](Channel& c) { c.fail("no such file"); }),
              HasSubstr("the other side says: no such file"));
}

// The same for the side that serves.
std::string served(const std::function<void(Channel&)>& behave) {
  const Folder folder;
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const ExchangeSecret secret{};
  std::thread other([&] {
    try {
      Channel channel(ends[1], ends[1], "this side", {.timeout = 5});
      channel.greet("intersect", words::version);
      channel.send(words::Begin, std::as_bytes(std::span(secret)));
      channel.receive(words::Count);
      behave(channel);
      channel.flush();
      for (;;) channel.receive();
    } catch (const Error&) {
    }
  });
  std::string sentence;
  IntersectOptions options;
  options.records.inputs = {folder.file("there", numbers(0, 100))};
  options.memory = 1 << 20;
  {
    Channel channel(ends[0], ends[0], "the other side", {.timeout = 5});
    try {
      serve_intersect(channel, options);
    } catch (const Error& error) {
      sentence = error.what();
      channel.fail(sentence);
    }
  }
  other.join();
  return sentence;
}
MessageWriter part(std::uint32_t number, std::uint32_t parts, std::uint64_t m, std::uint32_t k,
                   std::uint64_t coded, std::uint64_t batch = 100) {
  MessageWriter message;
  message.put(number).put(parts).put(m).put(k).put(coded).put(std::uint64_t{100}).put(batch);
  return message;
}

TEST(Intersect, ServesNoNonsense) {
  for (const MessageWriter& message :
       {part(1, 2, 0, 0, 0), part(0, 0, 0, 0, 0), part(0, 1, 1 << 30, 1, 100),
        part(0, 1, ~0ull, 1, 100), part(0, 1, 100, 0, 100), part(0, 1, 100, 99, 100),
        part(0, 1, 0, 0, 0, 0), part(0, ~0u, 0, 0, 0)})
    EXPECT_THAT(served([&](Channel& c) { c.send(words::Part, message.bytes()); }),
                HasSubstr("makes no sense"));
  EXPECT_THAT(served([&](Channel& c) {
                c.send(words::Part, part(0, 1, 100, 1, 1000).bytes());
                c.send(words::Array, bytes_of(std::string(1000, '\xff')));
              }),
              HasSubstr("damaged"));
  EXPECT_THAT(served([&](Channel& c) {
                c.send(words::Part, part(0, 1, 100, 1, 8).bytes());
                c.send(words::Array, bytes_of(std::string(8, '\0')));
              }),
              HasSubstr("damaged"));
}

}  // namespace
}  // namespace weir
