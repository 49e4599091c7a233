#include <csignal>

#include "commands.hpp"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // a broken pipe ends quietly, also where the parent ignores it
  return weir::cli::run(argc, argv);
}
