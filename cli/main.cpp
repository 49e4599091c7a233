#include <fcntl.h>

#include <csignal>

#include "commands.hpp"

// A standard descriptor that the parent closed would be given to the next file that is opened, and
// read or overwritten by mistake. It is taken, in a way that using it is an error as before.
static void occupy_standard_descriptors() {
  for (const int fd : {0, 1, 2})
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  std::signal(SIGPIPE, SIG_DFL);  // a broken pipe ends quietly, also where the parent ignores it
  return weir::cli::run(argc, argv);
}
