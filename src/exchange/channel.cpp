#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "exchange/message.hpp"
#include "weir/error.hpp"
#include "weir/exchange.hpp"
#include "weir_version.hpp"

namespace weir {
namespace {

constexpr char magic[] = {'W', 'E', 'I', 'R', 'X', 'C', 'H', 'G'};
constexpr std::size_t head_bytes = 5;
constexpr std::size_t flush_at = 64 << 10;

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

// As far as can be told from what was said.
bool is_weir(std::span<const std::byte> said) {
  return std::memcmp(said.data(), magic, std::min(said.size(), sizeof magic)) == 0;
}

struct LastWords {
  std::string sentence;
};

std::string because(int error) { return std::strerror(error); }

std::string seconds_text(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + (text == "1" ? " second" : " seconds");
}

}  // namespace

Channel::Channel(int in, int out, std::string other_side, const Settings& settings)
    : in_(in), out_(out), other_(std::move(other_side)), settings_(settings), last_sign_(now()) {
  // Waiting is done by poll(), where it can end; a read or write itself never waits.
  for (const int fd : {in, out}) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

Channel::Channel(Channel&& other) noexcept
    : in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      other_(std::move(other.other_)),
      child_(std::exchange(other.child_, -1)),
      settings_(other.settings_),
      sign_every_(other.sign_every_),
      last_sign_(other.last_sign_),
      outgoing_(std::move(other.outgoing_)),
      incoming_(std::move(other.incoming_)),
      taken_(other.taken_),
      sent_(other.sent_),
      received_(other.received_),
      greeted_(other.greeted_),
      failing_(other.failing_) {}

Channel::~Channel() { end(); }

// True: ready. False: the time is over.
bool Channel::wait_for(Wait what, double seconds) {
  const double until = now() + seconds;
  for (;;) {
    pollfd fd{what == Wait::Read ? in_ : out_,
              static_cast<short>(what == Wait::Read ? POLLIN : POLLOUT), 0};
    const double left = std::max(0.0, until - now());
    const int ready = ::poll(&fd, 1, static_cast<int>(std::min(left, 1e6) * 1000) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR)
      throw Error(ErrorCode::Io, "cannot wait for " + other_ + ": " + because(errno));
    if (left <= 0) return false;
  }
}

void Channel::write_out(bool closing) {
  std::size_t done = 0;
  while (done < outgoing_.size()) {
    const std::byte* const from = outgoing_.data() + done;
    const std::size_t rest = outgoing_.size() - done;
    ssize_t count = ::send(out_, from, rest, MSG_NOSIGNAL);
    if (count < 0 && errno == ENOTSOCK) count = ::write(out_, from, rest);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
      sent_ += static_cast<std::uint64_t>(count);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (wait_for(Wait::Write, closing ? 1 : settings_.timeout)) continue;
      outgoing_.clear();
      if (closing) return;
      lost("has taken nothing for " + seconds_text(settings_.timeout));
    }
    const int error = errno;
    outgoing_.clear();
    if (closing) return;
    lost(error == EPIPE || error == ECONNRESET ? "has ended the conversation"
                                               : "cannot be reached: " + because(error));
  }
  outgoing_.clear();
}

// Until so many bytes are there that were not taken yet.
void Channel::fill(std::size_t bytes) {
  if (incoming_.size() - taken_ >= bytes) return;
  incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  while (incoming_.size() < bytes) {
    const std::size_t had = incoming_.size();
    incoming_.resize(std::max(bytes, had + flush_at));
    const ssize_t count = ::read(in_, incoming_.data() + had, incoming_.size() - had);
    const int error = errno;
    incoming_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count > 0) {
      received_ += static_cast<std::uint64_t>(count);
      continue;
    }
    if (count == 0) lost("has ended the conversation");
    if (error == EINTR) continue;
    if (error != EAGAIN && error != EWOULDBLOCK)
      lost(error == ECONNRESET ? "has ended the conversation"
                               : "cannot be heard: " + because(error));
    if (!wait_for(Wait::Read, settings_.timeout))
      lost("has been silent for " + seconds_text(settings_.timeout));
  }
}

// Its last words may have come in before the connection went: they say why.
void Channel::lost(const std::string& how) {
  const bool listening = std::exchange(failing_, true);
  if (!listening) {
    try {
      const double until = now() + 1;
      std::size_t had;
      do {
        had = incoming_.size();
        incoming_.resize(had + flush_at);
        const ssize_t count = ::read(in_, incoming_.data() + had, flush_at);
        incoming_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (count < 0 && errno == EAGAIN && !wait_for(Wait::Read, 0.1)) break;
      } while (incoming_.size() > had && now() < until && incoming_.size() < 2 * most_bytes);
      std::span<const std::byte> rest = std::span(incoming_).subspan(taken_);
      if (!greeted_ && !rest.empty()) {
        if (!is_weir(rest)) throw LastWords{stranger()};
        rest = rest.subspan(std::min(rest.size(), sizeof magic));
      }
      while (rest.size() >= head_bytes) {
        std::uint32_t length;
        std::memcpy(&length, rest.data() + 1, sizeof length);
        if (length > most_bytes || rest.size() < head_bytes + length) break;
        if (rest[0] == std::byte{Failure})
          throw LastWords{
              "the other side says: " +
              std::string(reinterpret_cast<const char*>(rest.data() + head_bytes), length)};
        rest = rest.subspan(head_bytes + length);
      }
    } catch (const LastWords& words) {
      throw Error(ErrorCode::Io, words.sentence);
    } catch (const Error&) {  // it can say nothing more
    }
  }
  throw Error(ErrorCode::Io, other_ + " " + how + ending(1));
}

// How the command ended, where it did.
std::string Channel::ending(double seconds) noexcept {
  if (child_ < 0) return {};
  int status = 0;
  const double until = now() + seconds;
  int ended;
  while ((ended = ::waitpid(child_, &status, WNOHANG)) == 0 && now() < until) ::usleep(10'000);
  if (ended == 0) return {};
  child_ = -1;
  if (WIFSIGNALED(status)) return " (killed by signal " + std::to_string(WTERMSIG(status)) + ")";
  const int code = WEXITSTATUS(status);
  if (code == 0) return {};
  return " (exit status " + std::to_string(code) +
         (code == 127 ? ": the command was not found)" : ")");
}

void Channel::end() noexcept {
  if (in_ >= 0) ::close(in_);
  if (out_ >= 0 && out_ != in_) ::close(out_);
  in_ = out_ = -1;
  if (child_ < 0) return;
  ending(1);
  if (child_ < 0) return;
  ::kill(child_, SIGTERM);
  ending(1);
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  child_ = -1;
}

void Channel::send(std::uint8_t kind, std::span<const std::byte> contents) {
  if (contents.size() > most_bytes) throw Error(ErrorCode::Io, "a message is too long");
  const auto length = static_cast<std::uint32_t>(contents.size());
  std::byte head[head_bytes] = {std::byte{kind}};
  std::memcpy(head + 1, &length, sizeof length);
  outgoing_.insert(outgoing_.end(), head, head + head_bytes);
  outgoing_.insert(outgoing_.end(), contents.begin(), contents.end());
  if (outgoing_.size() >= flush_at) flush();
}

void Channel::flush() {
  if (outgoing_.empty()) return;
  last_sign_ = now();
  write_out(false);
}

void Channel::still_here() {
  if (now() - last_sign_ < sign_every_) return;
  send(StillHere, {});
  flush();
}

Channel::Message Channel::receive() {
  flush();
  for (;;) {
    fill(head_bytes);
    std::uint32_t length;
    std::memcpy(&length, incoming_.data() + taken_ + 1, sizeof length);
    const auto kind = std::to_integer<std::uint8_t>(incoming_[taken_]);
    if (length > most_bytes)
      throw Error(ErrorCode::Io, other_ + " sends garbage: a message of " + std::to_string(length) +
                                     " bytes, where " + std::to_string(most_bytes) +
                                     " are the most");
    fill(head_bytes + length);
    const auto contents =
        std::span<const std::byte>(incoming_).subspan(taken_ + head_bytes, length);
    taken_ += head_bytes + length;
    if (kind == StillHere) continue;
    if (kind == Failure) {
      failing_ = true;
      throw Error(ErrorCode::Io,
                  "the other side says: " +
                      std::string(reinterpret_cast<const char*>(contents.data()), length));
    }
    return {kind, contents};
  }
}

std::span<const std::byte> Channel::receive(std::uint8_t kind) {
  const Message message = receive();
  if (message.kind != kind)
    throw Error(ErrorCode::Io, other_ + " sends garbage: a message of kind " +
                                   std::to_string(message.kind) + ", where " +
                                   std::to_string(kind) + " is due");
  return message.contents;
}

void Channel::greet(std::string_view purpose, std::uint32_t speaks) {
  outgoing_.insert(outgoing_.end(), reinterpret_cast<const std::byte*>(magic),
                   reinterpret_cast<const std::byte*>(magic) + sizeof magic);
  MessageWriter hello;
  hello.put(purpose).put(speaks).put(settings_.timeout).put(std::string_view(weir::version));
  send(Hello, hello.bytes());
  flush();
  fill(1);
  if (incoming_[0] == std::byte{magic[0]}) fill(sizeof magic);
  if (!is_weir(incoming_)) throw Error(ErrorCode::Io, stranger());
  taken_ = sizeof magic;
  greeted_ = true;
  MessageReader heard(receive(Hello));
  const std::string theirs(heard.text());
  const auto their_version = heard.get<std::uint32_t>();
  const auto patience = heard.get<double>();
  const std::string program(heard.text());
  if (theirs != purpose)
    throw Error(ErrorCode::Io, "the other side is there for weir " + theirs + ", not for weir " +
                                   std::string(purpose));
  if (their_version != speaks)
    throw Error(ErrorCode::Io, "the other side is weir " + program + " and speaks version " +
                                   std::to_string(their_version) + " of this exchange, weir " +
                                   weir::version + " here speaks version " +
                                   std::to_string(speaks) + "; use the same weir on both sides");
  if (patience > 0) sign_every_ = std::min(sign_every_, patience / 4);
}

// Something else is at the other end: a shell's greeting, a web server.
std::string Channel::stranger() const {
  std::string said;
  for (const std::byte byte : incoming_) {
    const char c = static_cast<char>(byte);
    if (c == '\n' || said.size() == 60) break;
    said += c >= ' ' && c <= '~' ? c : '?';
  }
  return other_ + " is no weir; it says: " + said;
}

void Channel::fail(std::string_view sentence) noexcept {
  if (out_ < 0 || std::exchange(failing_, true)) return;
  try {
    sentence = sentence.substr(0, 1000);
    send(Failure, std::as_bytes(std::span(sentence)));
    write_out(true);
    // What is still on its way to us must be taken, or our last words may be lost with it.
    if (in_ == out_) ::shutdown(out_, SHUT_WR);
    std::vector<std::byte> rest(flush_at);
    for (const double until = now() + 1; now() < until && wait_for(Wait::Read, until - now());)
      if (const ssize_t count = ::read(in_, rest.data(), rest.size());
          count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
        break;
  } catch (...) {  // it was worth a try
  }
}

void Channel::close() {
  flush();
  failing_ = true;
  if (in_ == out_) ::shutdown(out_, SHUT_WR);
  const bool command = child_ >= 0;
  if (in_ >= 0) ::close(in_);
  if (out_ >= 0 && out_ != in_) ::close(out_);
  in_ = out_ = -1;
  if (!command) return;
  const std::string how = ending(settings_.timeout);
  end();
  if (!how.empty()) throw Error(ErrorCode::Io, other_ + " failed in the end" + how);
}

}  // namespace weir
