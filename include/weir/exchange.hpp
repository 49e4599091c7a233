// A conversation with the weir of another machine, over any two-way byte stream.
//
//   weir::Channel channel = weir::Channel::start("ssh host weir intersect --serve other.txt", {});
//   channel.greet("intersect");
//
// On the wire: both sides begin with the 8 bytes "WEIRXCHG" and a message Hello. A message is
// one byte that says its kind, four that say its length (little-endian, at most 1 MiB), and the
// contents. The two sides speak by turns: who has said what it had to say flushes and listens.
// Three kinds belong to the channel itself: Hello, Failure (a sentence for the other side's user;
// the conversation is over) and StillHere (nothing to say yet, but at work).
//
// Nothing hangs: a side that hears nothing for `timeout` ends with Error(Io), and so does one whose
// words nobody takes. Nothing is believed: lengths are checked before memory is taken.
// Not encrypted, and no password is asked for: between machines take a command such as ssh, and
// listen on 127.0.0.1 only.
// This header belongs to the library weir-exchange (CMake: weir::exchange).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

class Channel {
 public:
  struct Settings {
    double timeout = 60;  // seconds without a sign of life
  };
  static constexpr std::size_t most_bytes = 1 << 20;  // of a message

  struct Message {
    std::uint8_t kind = 0;
    std::span<const std::byte> contents;  // until the next receive()
  };
  enum Kind : std::uint8_t { Hello = 1, Failure = 2, StillHere = 3, First = 16 };

  // The other side is a command for the shell, which listens on its standard input and speaks on
  // its standard output. Its standard error stays ours.
  static Channel start(const std::string& command, const Settings& settings);
  // ADDRESS is HOST:PORT or [IPV6]:PORT.
  static Channel connect(const std::string& address, const Settings& settings);
  // This process was started by the other side: standard input and output.
  static Channel standard(const Settings& settings);
  // Two descriptors, or the same one twice; they are closed in the end.
  Channel(int in, int out, std::string other_side, const Settings& settings);

  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&&) = delete;
  ~Channel();

  // Says and hears Hello. `purpose` must be the same on both sides, and so must its version.
  // Throws Error(Io) with what the other side is instead.
  void greet(std::string_view purpose, std::uint32_t version);

  // Kinds of a conversation are First and up.
  void send(std::uint8_t kind, std::span<const std::byte> contents);
  void flush();
  // The next message; flushes first. Throws Error(Io) for a Failure with its sentence, for an end
  // of the stream, for silence.
  Message receive();
  // The same, and refuses any other kind.
  std::span<const std::byte> receive(std::uint8_t kind);
  // To be called now and then during long work: keeps the other side from losing patience. Costs
  // a look at the clock.
  void still_here();

  // The last word of a side that cannot go on; never throws.
  void fail(std::string_view sentence) noexcept;
  // Ends the conversation in order. Throws Error(Io) where the other side's command failed.
  void close();

  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }

 private:
  enum class Wait : std::uint8_t { Read, Write };
  bool wait_for(Wait what, double seconds);
  void write_out(bool closing);
  void fill(std::size_t bytes);
  [[noreturn]] void lost(const std::string& how);
  [[nodiscard]] std::string stranger() const;
  std::string ending(double seconds) noexcept;
  void end() noexcept;

  int in_, out_;
  std::string other_;  // what messages call the other side
  int child_ = -1;
  Settings settings_;
  double sign_every_ = 5;  // seconds
  double last_sign_ = 0;
  std::vector<std::byte> outgoing_, incoming_;
  std::size_t taken_ = 0;  // of incoming_
  std::uint64_t sent_ = 0, received_ = 0;
  bool greeted_ = false, failing_ = false;
};

// Waits for one other side on ADDRESS, which is PORT, HOST:PORT or [IPV6]:PORT; without a host
// 127.0.0.1, and port 0 is any that is free.
class Listener {
 public:
  explicit Listener(const std::string& address);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  Channel accept(const Channel::Settings& settings);

 private:
  int fd_ = -1;
  std::string address_;
};

}  // namespace weir
