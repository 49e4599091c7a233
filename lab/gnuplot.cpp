#include "gnuplot.hpp"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "weir/error.hpp"

namespace weir::lab {
namespace {

// Files without names instead of pipes: nobody has to wait for the other.
struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

File scratch() {
  File file(std::tmpfile());
  if (!file)
    throw Error(ErrorCode::Io,
                std::string("cannot make a file for gnuplot: ") + std::strerror(errno));
  return file;
}

std::string content(std::FILE* file) {
  std::string text;
  char buffer[1 << 14];
  std::rewind(file);
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, n);
  return text;
}

// The line that says what is wrong: the last one that is not empty.
std::string words(const std::string& errors) {
  const std::size_t end = errors.find_last_not_of(" \n");
  if (end == std::string::npos) return "it said nothing";
  const std::size_t line = errors.rfind('\n', end);
  const std::size_t begin = errors.find_first_not_of(" \n", line == std::string::npos ? 0 : line);
  return errors.substr(begin, end + 1 - begin);
}

}  // namespace

std::string gnuplot(const std::string& script) {
  const File in = scratch(), out = scratch(), errors = scratch();
  const bool written = std::fwrite(script.data(), 1, script.size(), in.get()) == script.size();
  if (!written || std::fflush(in.get()) != 0)
    throw Error(ErrorCode::Io,
                std::string("cannot write a script for gnuplot: ") + std::strerror(errno));
  std::rewind(in.get());

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(in.get()), 0);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(out.get()), 1);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(errors.get()), 2);
  // -d: without the user's own settings.
  char name[] = "gnuplot", plain[] = "-d";
  char* const arguments[] = {name, plain, nullptr};
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, name, &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed == ENOENT)
    throw Error(ErrorCode::Io,
                "charts need gnuplot, which is not installed; on Debian: apt-get install "
                "gnuplot-nox");
  if (failed != 0)
    throw Error(ErrorCode::Io, std::string("cannot start gnuplot: ") + std::strerror(failed));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) throw Error(ErrorCode::Io, "gnuplot failed: " + words(content(errors.get())));
  return content(out.get());
}

}  // namespace weir::lab
