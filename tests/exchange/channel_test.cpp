// A conversation that goes well, and all the ways in which it can end otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <thread>

#include "exchange/message.hpp"
#include "weir/error.hpp"
#include "weir/exchange.hpp"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
constexpr Channel::Settings impatient{.timeout = 0.3};
constexpr std::uint8_t word = Channel::First;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::array<int, 2> pair_of_ends() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  return ends;
}

// What a channel says of a peer that does `behave` with its end.
std::string met(const std::function<void(int fd)>& behave,
                const std::function<void(Channel&)>& talk) {
  const auto ends = pair_of_ends();
  std::thread peer([&] {
    behave(ends[1]);
    ::shutdown(ends[1], SHUT_WR);
  });
  std::string sentence;
  {
    Channel channel(ends[0], ends[0], "the peer", impatient);
    try {
      channel.greet("talk", 1);
      talk(channel);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Io);
      sentence = error.what();
    }
    peer.join();
  }
  ::close(ends[1]);
  return sentence;
}
std::string met(const std::function<void(int fd)>& behave) {
  return met(behave, [](Channel& channel) { channel.receive(word); });
}
void say(int fd, std::string_view text) {
  EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}
void hello(int fd, std::string_view purpose, std::uint32_t version) {
  MessageWriter contents;
  contents.put(purpose).put(version).put(60.0).put(std::string_view("9.9"));
  MessageWriter all;
  all.raw(bytes_of("WEIRXCHG")).put(std::uint8_t{Channel::Hello});
  all.put(static_cast<std::uint32_t>(contents.size())).raw(contents.bytes());
  say(fd, text_of(all.bytes()));
}

TEST(Channel, CarriesMessagesBothWaysAndCountsThem) {
  const auto ends = pair_of_ends();
  const std::string large(Channel::most_bytes, 'x');
  std::thread peer([&] {
    Channel channel(ends[1], ends[1], "one", {});
    channel.greet("talk", 1);
    for (int i = 0; i < 3; ++i) channel.send(word, channel.receive(word));
    channel.close();
  });
  Channel channel(ends[0], ends[0], "two", {});
  channel.greet("talk", 1);
  for (const std::string& text : {std::string("short"), std::string(), large}) {
    channel.send(word, bytes_of(text));
    EXPECT_EQ(text_of(channel.receive(word)), text);
  }
  channel.close();
  peer.join();
  EXPECT_EQ(channel.sent(), channel.received());
  EXPECT_GT(channel.sent(), large.size());
}

TEST(Channel, SignsOfLifeKeepASlowSideFromBeingGivenUp) {
  constexpr Channel::Settings patient{.timeout = 1};
  const auto ends = pair_of_ends();
  std::thread peer([&] {
    Channel channel(ends[1], ends[1], "one", patient);
    channel.greet("talk", 1);
    for (int i = 0; i < 30; ++i) ::usleep(50'000), channel.still_here();
    channel.send(word, bytes_of("done"));
    channel.close();
  });
  Channel channel(ends[0], ends[0], "two", patient);
  channel.greet("talk", 1);
  EXPECT_EQ(text_of(channel.receive(word)), "done");
  peer.join();
}

TEST(Channel, TellsWhatTheOtherSideIs) {
  EXPECT_EQ(met([](int fd) { say(fd, "Welcome to host\nmore"); }),
            "the peer is no weir; it says: Welcome to host");
  EXPECT_THAT(met([](int fd) { say(fd, "WE"); }), StartsWith("the peer has ended"));
  EXPECT_THAT(met([](int fd) { hello(fd, "sync", 1); }),
              HasSubstr("is there for weir sync, not for weir talk"));
  EXPECT_THAT(met([](int fd) { hello(fd, "talk", 2); }),
              HasSubstr("is weir 9.9 and speaks version 2"));
}

TEST(Channel, EndsWhenTheOtherSideDoes) {
  EXPECT_EQ(met([](int) {}), "the peer has ended the conversation");
  EXPECT_EQ(met([](int fd) { hello(fd, "talk", 1); }), "the peer has ended the conversation");
  EXPECT_EQ(met([](int fd) { hello(fd, "talk", 1), say(fd, std::string("\x10\x05\0\0\0ab", 7)); }),
            "the peer has ended the conversation");
  EXPECT_EQ(met([](int fd) { hello(fd, "talk", 1), ::usleep(600'000); }),
            "the peer has been silent for 0.3 seconds");
}

TEST(Channel, EndsWhenNobodyTakesItsWords) {
  const std::string large(Channel::most_bytes, 'x');
  EXPECT_EQ(met([](int fd) { hello(fd, "talk", 1), ::usleep(800'000); },
                [&](Channel& channel) {
                  for (int i = 0; i < 100; ++i) channel.send(word, bytes_of(large));
                }),
            "the peer has taken nothing for 0.3 seconds");
}

TEST(Channel, RefusesGarbage) {
  EXPECT_THAT(met([](int fd) { hello(fd, "talk", 1), say(fd, "garbage and more of it"); }),
              HasSubstr("sends garbage: a message of"));
  EXPECT_THAT(met([](int fd) { hello(fd, "talk", 1), say(fd, std::string("\x11\0\0\0\0", 5)); }),
              HasSubstr("sends garbage: a message of kind 17, where 16 is due"));
}

TEST(Channel, PassesOnWhyTheOtherSideFailed) {
  for (const bool by_writing : {false, true}) {
    const auto ends = pair_of_ends();
    std::thread peer([&] {
      Channel channel(ends[1], ends[1], "one", {});
      channel.greet("talk", 1);
      channel.fail("the disk is full");
    });
    std::string sentence;
    Channel channel(ends[0], ends[0], "two", {});
    channel.greet("talk", 1);
    try {
      const std::string large(Channel::most_bytes, 'x');
      for (int i = 0; by_writing && i < 100; ++i) channel.send(word, bytes_of(large));
      channel.receive(word);
    } catch (const Error& error) {
      sentence = error.what();
    }
    peer.join();
    EXPECT_EQ(sentence, "the other side says: the disk is full");
  }
}

TEST(Channel, StartsACommandAndTellsHowItEnded) {
  const auto sentence = [](const char* command) -> std::string {
    try {
      Channel::start(command, {}).greet("talk", 1);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(sentence("exit 3"),
              HasSubstr("('exit 3') has ended the conversation (exit status 3)"));
  EXPECT_THAT(sentence("/no/such/command 2>/dev/null"), HasSubstr("the command was not found"));
  EXPECT_THAT(sentence("kill -9 $$"), HasSubstr("killed by signal 9"));
  EXPECT_THAT(sentence("echo hello"), HasSubstr("is no weir; it says: hello"));
}

TEST(Channel, FindsItsWayByAddress) {
  Listener listener("0");
  EXPECT_THAT(listener.address(), StartsWith("127.0.0.1:"));
  std::thread peer([&] {
    Channel channel = listener.accept({});
    channel.greet("talk", 1);
    channel.send(word, bytes_of("hello"));
    channel.close();
  });
  Channel channel = Channel::connect(listener.address(), {});
  channel.greet("talk", 1);
  EXPECT_EQ(text_of(channel.receive(word)), "hello");
  peer.join();
  for (const char* const bad : {"", "7000", ":7000", "host:", "host:x", "::1:7000", "host:70000"})
    EXPECT_THROW(Channel::connect(bad, {}), Error) << bad;
  for (const char* const bad : {"", "x", "host:x", "65536"}) EXPECT_THROW(Listener{bad}, Error);
}

TEST(Message, IsReadAsItWasWritten) {
  MessageWriter writer;
  writer.put(std::uint64_t{7}).put(std::string_view("text")).put(0.5);
  MessageReader reader(writer.bytes());
  EXPECT_EQ(reader.get<std::uint64_t>(), 7u);
  EXPECT_EQ(reader.text(), "text");
  EXPECT_EQ(reader.get<double>(), 0.5);
  reader.end();
  EXPECT_THROW(reader.get<std::uint8_t>(), Error);
  EXPECT_THROW(MessageReader(writer.bytes()).end(), Error);
  MessageReader lying(writer.bytes().subspan(8, 6));
  EXPECT_THROW(lying.text(), Error);
}

}  // namespace
}  // namespace weir
