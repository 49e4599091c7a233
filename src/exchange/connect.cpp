// How a conversation is begun: a command, an address, a port to wait on.
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "weir/error.hpp"
#include "weir/exchange.hpp"

namespace weir {
namespace {

[[noreturn]] void failed(const std::string& what, int error) {
  throw Error(ErrorCode::Io, "cannot " + what + ": " + std::strerror(error));
}

struct Address {
  std::string host, port;
};

Address parse(const std::string& text, bool host_needed) {
  const auto refuse = [&] {
    throw Error(ErrorCode::Config, "'" + text + "' is no address; write " +
                                       (host_needed ? "" : "PORT, ") + "HOST:PORT or [IPV6]:PORT");
  };
  Address address{"127.0.0.1", text};
  if (const std::size_t colon = text.rfind(':'); colon != std::string::npos) {
    address = {text.substr(0, colon), text.substr(colon + 1)};
    const bool brackets = address.host.starts_with('[') && address.host.ends_with(']');
    if (brackets) address.host = address.host.substr(1, address.host.size() - 2);
    if (address.host.empty() || (!brackets && address.host.find(':') != std::string::npos))
      refuse();
  } else if (host_needed) {
    refuse();
  }
  const bool digits = !address.port.empty() && address.port.size() <= 5 &&
                      address.port.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoi(address.port) > 65535) refuse();
  return address;
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;
Addresses look_up(const Address& address, bool passive) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  if (error != 0)
    throw Error(ErrorCode::Io, "cannot find " + address.host + ": " + ::gai_strerror(error));
  return {found, &::freeaddrinfo};
}

// Messages are put together here, not by the system waiting for more.
void send_at_once(int fd) {
  const int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

int open_connection(const addrinfo& to, double timeout) {
  const int fd = ::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  int error = 0;
  if (::connect(fd, to.ai_addr, to.ai_addrlen) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      pollfd ready{fd, POLLOUT, 0};
      socklen_t size = sizeof error;
      if (::poll(&ready, 1, static_cast<int>(timeout * 1000)) != 1)
        error = ETIMEDOUT;
      else
        ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
  }
  if (error == 0) return fd;
  ::close(fd);
  errno = error;
  return -1;
}

}  // namespace

Channel Channel::start(const std::string& command, const Settings& settings) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    failed("start '" + command + "'", errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const char* const words[] = {"sh", "-c", command.c_str(), nullptr};
  pid_t child = -1;
  const int error =
      ::posix_spawn(&child, "/bin/sh", &actions, nullptr, const_cast<char* const*>(words), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    failed("start '" + command + "'", error);
  }
  Channel channel(ends[0], ends[0], "the other side ('" + command + "')", settings);
  channel.child_ = child;
  return channel;
}

Channel Channel::standard(const Settings& settings) {
  // Copies, so that the end of the conversation closes nothing that others hold.
  const int in = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (in < 0 || out < 0) failed("use standard input and output", errno);
  return {in, out, "the other side", settings};
}

Channel Channel::connect(const std::string& address, const Settings& settings) {
  const Addresses found = look_up(parse(address, true), false);
  int error = 0;
  for (const addrinfo* to = found.get(); to != nullptr; to = to->ai_next) {
    const int fd = open_connection(*to, settings.timeout);
    if (fd >= 0) {
      send_at_once(fd);
      return {fd, fd, "the other side (" + address + ")", settings};
    }
    error = errno;
  }
  failed("connect to " + address, error);
}

Listener::Listener(const std::string& address) {
  const Address wanted = parse(address, false);
  const Addresses found = look_up(wanted, true);
  const addrinfo& at = *found;
  fd_ = ::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  if (fd_ >= 0) ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (fd_ < 0 || ::bind(fd_, at.ai_addr, at.ai_addrlen) != 0 || ::listen(fd_, 1) != 0) {
    const int error = errno;
    if (fd_ >= 0) ::close(fd_);
    failed("listen on " + address, error);
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size);
  char port[8] = "";
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&bound), size, nullptr, 0, port, sizeof port,
                NI_NUMERICSERV);
  const bool brackets = wanted.host.find(':') != std::string::npos;
  address_ = (brackets ? "[" + wanted.host + "]" : wanted.host) + ":" + port;
}

Listener::~Listener() { ::close(fd_); }

Channel Listener::accept(const Channel::Settings& settings) {
  for (;;) {
    const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) {
      send_at_once(fd);
      return {fd, fd, "the other side", settings};
    }
    if (errno != EINTR && errno != ECONNABORTED) failed("listen on " + address_, errno);
  }
}

}  // namespace weir
