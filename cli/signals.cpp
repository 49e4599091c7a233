#include "signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "weir/error.hpp"

namespace weir::cli {
namespace {

volatile std::sig_atomic_t came = 0;
int write_end = -1;

void note(int signal) {
  const int error = errno;
  came = signal;
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = ::write(write_end, &byte, 1);
  errno = error;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  // A second signal of the kind ends the process at once: somebody is in a hurry.
  action.sa_flags = SA_RESTART | static_cast<int>(handler == SIG_DFL ? 0 : SA_RESETHAND);
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

StopOnSignal::~StopOnSignal() {
  for (const int signal : {SIGINT, SIGTERM})
    if (!ignored(signal)) handle(signal, SIG_DFL);
  ::close(read_end_);
  ::close(write_end);
}

void StopOnSignal::end_by_it() {
  std::fflush(nullptr);
  if (came != 0) {
    handle(came, SIG_DFL);
    std::raise(came);
  }
}

}  // namespace weir::cli
