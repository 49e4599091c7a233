#include <fmt/format.h>

#include <exception>

#include "commands.hpp"
#include "weir/error.hpp"
#include "weir_version.hpp"

namespace weir::cli {
namespace {

constexpr int done = 0, run_error = 1, usage_error = 2;

int run_checked(int argc, const char* const* argv) {
  CLI::App app(
      "Weir reads an endless stream once, in memory that never grows, and says of each "
      "record whether it came before.");
  app.name("weir");
  app.set_version_flag("--version", std::string("weir ") + version);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("weir: ") + error.what() + "\nTry: weir --help\n";
  });
  add_dedup(app);
  add_filters(app);
  add_inspect(app);
  add_demo(app);
  try {
    app.parse(argc, argv);
    return done;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? done : usage_error;
  }
}

}  // namespace

int run(int argc, const char* const* argv) noexcept {
  try {
    return run_checked(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "weir: {}\n", error.what());
    return error.code() == ErrorCode::Config ? usage_error : run_error;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "weir: out of memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "weir: {}\n", error.what());
  }
  return run_error;
}

}  // namespace weir::cli
