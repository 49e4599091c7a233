// Any text as what a user may write: a size, a structure, a whole command line. Every parser
// gives a value or one sentence; nothing crashes. An input is a command line, one argument a line.
#include <fcntl.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "commands.hpp"
#include "sizes.hpp"
#include "weir/catalog.hpp"

namespace {

using namespace weir;

constexpr std::uint64_t small = 64 << 10;

void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

template <class Call>
void refuses_well(Call call) {
  try {
    call();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Config, "what a user writes is a Config error");
    require(error.what()[0] != '\0', "a refusal has a sentence");
  }
}

void make(const std::string& spec) {
  refuses_well([&] {
    const StructurePtr made = make_structure(spec, {.memory = small, .seed = 1});
    require(made->memory() <= small, "memory stays within the budget");
    // What it says about itself makes the same structure again.
    const std::string said = std::string(made->info().name) + ":" + made->parameters();
    require(make_structure(said, {.memory = small, .seed = 1})->parameters() == made->parameters(),
            "parameters describe the structure");
  });
}

std::vector<std::string> arguments_of(const std::string& text) {
  std::vector<std::string> arguments;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && arguments.size() < 32;)
    arguments.push_back(line.substr(0, line.find('\0')));
  return arguments;
}

std::uint64_t size_or_zero(const CLI::Option& option) try {
  return option.count() == 1 ? cli::parse_size(option.as<std::string>()) : 0;
} catch (const Error&) {
  return 0;
}

// The command line of run(), without what it does. True when doing it would touch no file and
// little memory.
bool parses_to_something_small(int argc, const char* const* argv) {
  cli::CommandLine line;
  cli::define(line);
  struct Parsed {};
  line.app->parse_complete_callback([] { throw Parsed(); });  // comes before what a command does
  try {
    line.parse(argc, argv);
  } catch (const CLI::ParseError&) {
    return true;  // run() must end in help or usage too
  } catch (const Parsed&) {
  }
  const cli::Command* const command = line.chosen();
  if (command == nullptr) return true;
  for (const cli::Flag& flag : command->flags)
    if (flag.given() && (flag.hint == cli::Hint::File || flag.hint == cli::Hint::Folder))
      return false;
  if (command->name == "dedup") {
    const std::uint64_t memory = size_or_zero(*command->find("--memory")->option);
    return memory > 0 && memory <= small;
  }
  // Others work, write, or start a shell (weir intersect --with).
  return command->name == "filters" || command->name == "man" || command->name == "completions";
}

// Standard input is empty, and output goes nowhere, as long as it lives.
class Silence {
 public:
  Silence() : in_(::dup(0)), out_(::dup(1)) {
    std::fflush(stdout);
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(nowhere, 0);
    ::dup2(nowhere, 1);
    ::close(nowhere);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() {
    std::fflush(stdout);
    ::dup2(in_, 0);
    ::dup2(out_, 1);
    ::close(in_);
    ::close(out_);
  }

 private:
  int in_, out_;
};

void command_line(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"weir"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  if (!parses_to_something_small(argc, argv.data())) return;
  const Silence silence;
  const int status = cli::run(argc, argv.data());
  require(status == 0 || status == 2, "without files and without load there is nothing to fail");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  refuses_well([&] { cli::parse_size(text); });
  refuses_well([&] { cli::parse_whole(text); });
  make(text);
  const auto arguments = arguments_of(text);
  for (const std::string& argument : arguments) make(argument);
  command_line(arguments);
  return 0;
}
