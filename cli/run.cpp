#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "commands.hpp"
#include "weir/error.hpp"
#include "weir_version.hpp"

namespace weir::cli {
namespace {

constexpr int done = 0, run_error = 1, usage_error = 2;

int run_checked(int argc, const char* const* argv) {
  CLI::App app;
  define(app);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw CLI::RequiredError("A subcommand");
    return done;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? done : usage_error;
  }
}

// What was printed is not written before this succeeds.
void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Error(ErrorCode::Io, std::string("cannot write the output: ") + std::strerror(errno));
}

// Not by fmt: it throws when stderr cannot be written.
void complain(const char* sentence) noexcept { std::fprintf(stderr, "weir: %s\n", sentence); }

}  // namespace

void define(CLI::App& app) {
  app.description(
      "Weir reads an endless stream once, in memory that never grows, and says of each "
      "record whether it came before.");
  app.name("weir");
  app.set_version_flag("--version", std::string("weir ") + version);
  app.require_subcommand(0, 1);  // so that a wrong one is named; none is refused by run()
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("weir: ") + error.what() + "\nTry: weir --help\n";
  });
  add_dedup(app);
  add_filters(app);
  add_inspect(app);
  add_demo(app);
}

int run(int argc, const char* const* argv) noexcept {
  try {
    const int status = run_checked(argc, argv);
    flush_output();
    return status;
  } catch (const Error& error) {
    complain(error.what());
    return error.code() == ErrorCode::Config ? usage_error : run_error;
  } catch (const std::bad_alloc&) {
    complain("out of memory");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return run_error;
}

}  // namespace weir::cli
