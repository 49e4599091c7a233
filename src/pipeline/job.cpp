// What a job is, and whether its options make sense together.
#include "pipeline/job.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "source/byte_stream.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

// A file that is there already, as the system knows it.
struct Identity {
  bool known = false;
  dev_t device{};
  ino_t number{};
  bool operator==(const Identity& other) const {
    return known && other.known && device == other.device && number == other.number;
  }
};

Identity identity(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return {};
  return {true, status.st_dev, status.st_ino};
}
Identity identity_of(const std::string& file) {
  struct stat status {};
  if (file == "-") return ::fstat(0, &status) == 0 ? identity(status) : Identity{};
  return ::stat(file.c_str(), &status) == 0 ? identity(status) : Identity{};
}
Identity identity_of(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? identity(status) : Identity{};
}

// Also of files that are not there yet.
bool same_name(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code ignored;
  return std::filesystem::weakly_canonical(a, ignored) ==
         std::filesystem::weakly_canonical(b, ignored);
}

// Better now than after hours of work.
void check_state_folder(const std::string& state) {
  const auto folder = std::filesystem::path(state).parent_path();
  const std::string name = folder.empty() ? "." : folder.string();
  if (::access(name.c_str(), W_OK | X_OK) != 0)
    throw Error(ErrorCode::Io,
                "cannot write " + state + ": the folder " + name + ": " + std::strerror(errno));
}

// Nothing is read from what is written to.
void check_files(const DedupOptions& options) {
  const Identity output =
      options.output.empty() ? identity_of(options.output_fd) : identity_of(options.output);
  const Identity repeats =
      options.repeats_file.empty() ? Identity{} : identity_of(options.repeats_file);
  const Identity state = options.state.empty() ? Identity{} : identity_of(options.state);
  for (const std::string& input : options.inputs) {
    const Identity in = identity_of(input);
    if (in == output) refuse("the output is also the input " + input + "; write to another file");
    if (in == repeats) refuse("the repeats' file is also the input " + input);
    if (in == state) refuse("the state file is also the input " + input);
  }
  if (output == repeats || same_name(options.output, options.repeats_file))
    refuse("first ones and repeats cannot go to the same file");
  if (output == state || repeats == state || same_name(options.state, options.output) ||
      same_name(options.state, options.repeats_file))
    refuse("the state and the output cannot be the same file");
}

void check_resume(const DedupOptions& options) {
  if (options.state.empty()) refuse("--resume needs --state FILE to keep the position in");
  if (options.output.empty()) refuse("--resume needs -o FILE: only a file can be cut back");
  if (options.read_only) refuse("--resume and --read-only exclude each other");
  std::error_code missing;  // is told when it is opened
  for (const std::string& input : options.inputs)
    if (input == "-" || std::filesystem::is_other(input, missing))
      refuse("--resume needs files to read from; " + shown_name(input) + " cannot be read again");
}

void check_window(const Structure& structure, const DedupOptions& options) {
  const auto& window = options.window;
  const bool event = window && window->clock == Window::Clock::Event;
  if (event && options.key.time.empty() && !options.read_only)
    refuse("the window goes by the time of the records; say where it stands, with --time");
  if (!event && !options.key.time.empty())
    refuse("--time is for a window of time, as in --window 24h");
  if (!window) return;
  const StructureInfo& info = structure.info();
  if (info.kind != Kind::Filter)
    refuse(std::string("a window needs a filter, which ") + info.name + " is not");
  if (window->length == 0 || window->step == 0) refuse("a window must be longer than 0");
  if (window->kind == Window::Kind::Landmark) {
    if (info.forgets)
      refuse(std::string(info.name) +
             " forgets before the end of a landmark window; choose blocked-bloom");
  } else if (std::string_view(info.name) != "apbf" && std::string_view(info.name) != "a2") {
    refuse(std::string(info.name) + " does not age by generations; a window needs apbf or a2");
  }
}

}  // namespace

void check_reading(const DedupOptions& options) {
  if (options.inputs.empty()) refuse("there is nothing to read");
  if (std::count(options.inputs.begin(), options.inputs.end(), "-") > 1)
    refuse("standard input can be read only once");
  if (options.format.kind == Records::Fixed) {
    if (options.format.width == 0) refuse("the width of fixed records must be above 0");
    if (options.max_record > 0 && options.format.width > options.max_record)
      refuse("records of this fixed width are longer than --max-record");
  }
  if (options.format.kind == Records::Csv &&
      (options.format.separator == '"' || options.format.separator == '\n'))
    refuse("a quote or newline cannot separate columns");
  if (options.chunk_bytes < 64) refuse("chunks must have at least 64 bytes");
  if (options.threads == 0) refuse("there must be at least one thread");
  if (!options.state.empty() && !options.read_only) check_state_folder(options.state);
  check_files(options);
}

void check_options(const Structure& structure, const DedupOptions& options) {
  const StructureInfo& info = structure.info();
  if (info.kind == Kind::Sample)
    refuse(std::string(info.name) + " is a sample; choose a filter or a sketch");
  const bool counts = options.emit == Emit::Count || options.emit == Emit::CountRepeats;
  if (counts && info.kind != Kind::Sketch)
    refuse(std::string("-c needs a sketch, which ") + info.name +
           " is not; choose one of `weir filters`, as in -f count-min");
  if (options.take_back && (info.kind != Kind::Sketch || options.read_only))
    refuse("only a sketch that is not read-only can take occurrences back");
  if (!options.key.importance.empty() && !info.weighted)
    refuse(std::string(info.name) +
           " knows no importance; choose a filter that does, as in -f ibf-mc");
  check_window(structure, options);
  if (options.key.importance_max == 0) refuse("the maximal importance must be above 0");
  if (options.resume) check_resume(options);
  check_reading(options);
}

std::string describe_job(const DedupOptions& options) {
  std::string text;
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) text += std::string(text.empty() ? "" : "\n") + what + " " + value;
  };
  for (const std::string& input : options.inputs) add("input", input);
  constexpr const char* kinds[] = {"lines", "nul", "fixed", "csv", "json"};
  add("records", kinds[static_cast<int>(options.format.kind)]);
  if (options.format.kind == Records::Fixed) add("width", std::to_string(options.format.width));
  if (options.format.kind == Records::Csv) {
    add("separator", std::string(1, options.format.separator));
    add("header", options.format.header ? "yes" : "no");
  }
  if (!options.decompress) add("decompress", "no");
  add("fields", options.key.fields);
  if (options.key.separator) add("field-separator", std::string(1, *options.key.separator));
  for (const std::string& column : options.key.columns) add("column", column);
  for (const std::string& pointer : options.key.pointers) add("pointer", pointer + "\"");
  if (options.key.ignore_case) add("case", "ignored");
  if (!options.key.importance.empty()) {
    add("importance", options.key.importance);
    add("importance-max", std::to_string(options.key.importance_max));
  }
  add("time", options.key.time);
  if (const auto& window = options.window) {
    constexpr const char* clocks[] = {"records", "arrival", "event"};
    constexpr const char* shapes[] = {"sliding", "jumping", "landmark"};
    add("window", std::to_string(window->length) + " " + clocks[static_cast<int>(window->clock)] +
                      " " + shapes[static_cast<int>(window->kind)]);
  }
  constexpr const char* policies[] = {"pass", "drop", "fail"};
  add("on-bad", policies[static_cast<int>(options.on_bad)]);
  if (options.max_record > 0) add("max-record", std::to_string(options.max_record));
  constexpr const char* ways[] = {"first", "repeats", "mark", "count", "count-repeats", "nothing"};
  add("emit", ways[static_cast<int>(options.emit)]);
  add("output", options.output);
  add("repeats-file", options.repeats_file);
  return text;
}

}  // namespace weir
