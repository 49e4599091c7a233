#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>

#include "commands.hpp"
#include "weir/error.hpp"

namespace weir::cli {
namespace {

constexpr int done = 0, run_error = 1, usage_error = 2;

// Not by fmt: it throws when stderr cannot be written.
void complain(const char* sentence) noexcept { std::fprintf(stderr, "weir: %s\n", sentence); }

int run_checked(int argc, const char* const* argv) {
  CommandLine line;
  define(line);
  try {
    line.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const Command* const command = line.chosen();
    std::fputs((command == nullptr ? help_of(line) : help_of(*command)).c_str(), stdout);
  } catch (const CLI::CallForVersion& version) {
    std::puts(version.what());
  } catch (const CLI::ParseError& error) {
    const Command* const command = line.chosen();
    // Error cleans what the sentence quotes.
    complain(Error(ErrorCode::Config, line.explain(error)).what());
    std::fprintf(stderr, "Try: weir%s%s --help\n", command == nullptr ? "" : " ",
                 command == nullptr ? "" : command->name.c_str());
    return usage_error;
  }
  return done;
}

// What was printed is not written before this succeeds.
void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Error(ErrorCode::Io, std::string("cannot write the output: ") + std::strerror(errno));
}

}  // namespace

void define(CommandLine& line) {
  add_dedup(line);
  add_count(line);
  add_top(line);
  add_sample(line);
  add_intersect(line);
  add_merge(line);
  add_shrink(line);
  add_sync(line);
  add_signature(line);
  add_delta(line);
  add_patch(line);
  add_plan(line);
  add_filters(line);
  add_inspect(line);
  add_demo(line);
  add_lab(line);
  add_generate(line);
  add_completions(line);
  add_man(line);
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
  } catch (const std::system_error& error) {
    // How fmt tells of an output that is longer than its buffer.
    complain(std::ferror(stdout) != 0
                 ? ("cannot write the output: " + error.code().message()).c_str()
                 : error.what());
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return run_error;
}

}  // namespace weir::cli
