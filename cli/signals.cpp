#include "signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "weir/error.hpp"

namespace weir::cli {
namespace {

volatile std::sig_atomic_t came = 0;
int write_end = -1;
timespec first_came{};

void handle(int signal, void (*handler)(int));

// `timeout` and some shells send a signal to the process and to its group, so that it comes
// twice at once. Another one after two seconds is somebody in a hurry, and ends the process; what
// was saved before stays whole.
void note(int signal) {
  const int error = errno;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (came == 0) {
    came = signal;
    first_came = now;
    const char byte = 0;
    [[maybe_unused]] const ssize_t written = ::write(write_end, &byte, 1);
  } else if (now.tv_sec - first_came.tv_sec >= 2) {
    handle(signal, SIG_DFL);
    ::raise(signal);
  }
  errno = error;
}

int ask_end = -1;

void ask(int) {
  const int error = errno;
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = ::write(ask_end, &byte, 1);
  errno = error;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

// What the parent chose to ignore (nohup, background jobs) stays ignored.
bool ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

StopOnSignal::StopOnSignal() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw Error(ErrorCode::Io, std::string("cannot make a pipe: ") + std::strerror(errno));
  read_end_ = ends[0];
  write_end = ends[1];
  for (const int signal : {SIGINT, SIGTERM})
    if (!ignored(signal)) handle(signal, note);
}

// The handler stays: a signal that comes when all is done and saved must not make it look as if it
// were not.
StopOnSignal::~StopOnSignal() {
  ::close(read_end_);
  ::close(std::exchange(write_end, -1));
}

void StopOnSignal::end_by_it() {
  std::fflush(nullptr);
  if (came != 0) {
    handle(came, SIG_DFL);
    std::raise(came);
  }
}

AskedBySignal::AskedBySignal() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw Error(ErrorCode::Io, std::string("cannot make a pipe: ") + std::strerror(errno));
  read_end_ = ends[0];
  ask_end = ends[1];
  handle(SIGUSR1, ask);
}

// From here on it is ignored: the last sample is being written, which answers it.
AskedBySignal::~AskedBySignal() {
  handle(SIGUSR1, SIG_IGN);
  ::close(read_end_);
  ::close(std::exchange(ask_end, -1));
}

bool AskedBySignal::asked() {
  char bytes[64];
  bool came_once = false;
  while (::read(read_end_, bytes, sizeof bytes) > 0) came_once = true;
  return came_once;
}

}  // namespace weir::cli
