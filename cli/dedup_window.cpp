#include "dedup_window.hpp"

#include <fmt/format.h>

#include <cmath>

#include "plan/window_sizing.hpp"
#include "sizes.hpp"

namespace weir::cli {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

constexpr std::uint64_t most_generations = 64;  // of apbf
constexpr const char* kind_names[] = {"sliding", "jumping", "landmark"};
constexpr const char* filters[] = {"apbf", "a2", "blocked-bloom"};

std::string name_of(const std::string& spec) { return spec.substr(0, spec.find(':')); }

bool has_parameter(const std::string& spec, const char* name) {
  return spec.find(fmt::format(":{}=", name)) != std::string::npos ||
         spec.find(fmt::format(",{}=", name)) != std::string::npos;
}

std::uint64_t parameter(const Structure& structure, const std::string& name) {
  const std::string all = "," + structure.parameters();
  const auto at = all.find("," + name + "=");
  if (at == std::string::npos) return 0;  // a forged state
  return std::strtoull(all.c_str() + at + name.size() + 2, nullptr, 10);
}

// Generations that a key is kept for, the one it came in not counted.
std::uint64_t generations(const Window& window, const Structure& structure) {
  return window.kind == Window::Kind::Sliding   ? parameter(structure, "l")
         : window.kind == Window::Kind::Jumping ? 1
                                                : 0;
}

std::string spec_of(const Window& window, const WindowFlags& flags, const MakingFlags& making,
                    std::uint64_t records) {
  const auto kind = static_cast<std::size_t>(window.kind);
  std::string spec = making.is_auto() ? filters[kind] : making.filter;
  const std::string name = name_of(spec);
  const StructureInfo* const info = find_structure(name);
  const bool fits = window.kind == Window::Kind::Landmark
                        ? info == nullptr || (info->kind == weir::Kind::Filter && !info->forgets)
                        : info == nullptr || name == filters[kind];
  if (!fits)
    refuse(fmt::format("a {} window cannot be held by {}; leave -f out, or choose {}",
                       kind_names[kind], name, filters[kind]));
  if (window.kind == Window::Kind::Landmark) return spec;
  for (const char* own : {"g", "window", "refresh"})
    if (has_parameter(spec, own))
      refuse(fmt::format("--window says what {} is; leave it out of -f {}", own, name));
  spec += (spec.find(':') == std::string::npos ? ":" : ",") + std::string("g=0");
  // A step is at least a record: of few records there are as many steps as make the window as long
  // as it is asked to be.
  if (window.kind == Window::Kind::Sliding && window.clock == Window::Clock::Records &&
      window.length < 16 * most_generations && !has_parameter(spec, "l")) {
    const std::uint64_t step = (window.length + most_generations - 1) / most_generations;
    spec += fmt::format(",l={}", (window.length + step - 1) / step);
  }
  if (records != 0) spec += fmt::format(",window={}", share_of_shard(records, making.shards));
  if (flags.no_refresh) spec += ",refresh=no";
  return spec;
}

// The FPR behind so many different keys.
double fpr_behind(const Structure& structure, std::uint64_t keys) {
  const std::uint64_t last = std::max<std::uint64_t>(keys / 100, 2 * structure.shards());
  return static_cast<const Filter&>(structure)
      .predict({.records = std::max<std::uint64_t>(keys, structure.shards()),
                .universe = 1e18,
                .skip = keys > last ? keys - last : 0})
      .fpr;
}

// A Bloom filter takes any number of keys; the window is to be held at the FPR.
void require_room(const Structure& structure, std::uint64_t records, const MakingFlags& making) {
  const double most = making.fpr * 1.01;  // it was sized in whole lines
  if (fpr_behind(structure, records) <= most) return;
  MakingFlags other = making;
  std::uint64_t low = 0, high = records;
  while (high - low > std::max<std::uint64_t>(low / 100, 1)) {
    const std::uint64_t middle = low + (high - low) / 2;
    other.keys = middle;
    (fpr_behind(*other.make(), middle) <= most ? low : high) = middle;
  }
  const StructurePtr enough =
      make_structure(making.filter, {.fpr = making.fpr, .keys = records, .shards = making.shards});
  refuse(
      fmt::format("{} with an FPR of {} in {} bytes holds a window of {} records; a window of {} "
                  "records needs {} bytes",
                  structure.info().name, making.fpr, making.memory, low, records,
                  (enough->memory() + 4095) / 4096 * 4096 + budget_reserve));
}

std::string show_length(const Window& window, double positions) {
  if (window.clock == Window::Clock::Records)
    return show_count(static_cast<std::uint64_t>(positions)) + " records";
  return show_duration(positions / 1e6);
}

}  // namespace

void WindowFlags::declare(Command& command) {
  const Flag& window =
      command.value("--window", length, "LENGTH", "A repeat counts only within LENGTH: 10M, 24h")
          .more(
              "A number of records, which can have `K`, `M` or `G` (thousands, millions and "
              "thousand millions), or a time in `s`, `min`, `h` or `d`. No repeat within the "
              "window is missed; one that comes later is new. Bad records do not count.")
          .more(
              "The filter takes the memory that the window needs at `--fpr`; when `-S` is less, "
              "that is refused, with the sizes that would do. For a window of time `-n` says how "
              "many records to expect within one; without it the filter takes all of `-S`, and a "
              "warning tells when that is too little.")
          .more(
              "A window of time goes by the clock of the machine at the time when the records "
              "are read, so that the output depends on that too; or, with `--time`, by the "
              "records.");
  kind_flag = &command
                   .choice("--window-kind", kind, "KIND",
                           {{"sliding", Window::Kind::Sliding},
                            {"jumping", Window::Kind::Jumping},
                            {"landmark", Window::Kind::Landmark}},
                           "sliding, jumping or landmark")
                   .needs(window)
                   .more(
                       "`sliding` (filter `apbf`): the end of the window is true to a few percent "
                       "of its length. `jumping` (`a2`): a key is forgotten between one and two "
                       "lengths after it came last; faster, and takes more memory. `landmark` "
                       "(`blocked-bloom`): everything is forgotten after each LENGTH, of time at "
                       "multiples of it since 1970 in UTC, so that `24h` ends at midnight.");
  command.value("--reset-every", reset_every, "LENGTH", "Forget everything after each LENGTH: 1d")
      .not_with(window)
      .more("The same as `--window LENGTH --window-kind landmark`.");
  command.toggle("--no-refresh", no_refresh, "A window counts from when its key was let through")
      .needs(window)
      .more(
          "Without it every record counts: a key that keeps coming is passed on once. With it such "
          "a key is passed on once a window.");
}

std::optional<Window> window_of(const WindowFlags& flags, bool event_time) {
  const bool resets = !flags.reset_every.empty();
  if (flags.length.empty() && !resets) return std::nullopt;
  const Interval length = parse_interval(resets ? flags.reset_every : flags.length);
  Window window;
  window.kind = resets ? Window::Kind::Landmark : flags.kind;
  if (length.records > 0) {
    if (event_time) refuse("--time is for a window of time, as in --window 24h");
    window.length = length.records;
  } else {
    constexpr double most = 1000.0 * 366 * 86400;
    if (length.seconds > most) refuse("a window of more than 1000 years has no end; leave it out");
    window.clock = event_time ? Window::Clock::Event : Window::Clock::Arrival;
    window.length = std::max<std::uint64_t>(static_cast<std::uint64_t>(length.seconds * 1e6), 1);
  }
  return window;
}

StructurePtr make_for_window(Window& window, const WindowFlags& flags, MakingFlags making) {
  const bool landmark = window.kind == Window::Kind::Landmark;
  std::uint64_t records =
      window.clock == Window::Clock::Records ? window.length : making.keys.value_or(0);
  if (landmark && making.keys) records = std::min(records, *making.keys);
  making.filter = spec_of(window, flags, making, records);
  if (records != 0) making.keys = records;
  StructurePtr structure = making.make();
  if (landmark && records != 0) require_room(*structure, records, making);
  const std::uint64_t kept = std::max<std::uint64_t>(generations(window, *structure), 1);
  window.step = (window.length + kept - 1) / kept;
  return structure;
}

void require_window(const std::optional<Window>& loaded, const Structure& structure,
                    const WindowFlags& flags, bool event_time, const std::string& file) {
  const auto asked = window_of(flags, event_time);
  if (!asked) return;
  const auto disagree = [&](const std::string& holds, const std::string& with) {
    refuse(
        fmt::format("{} holds {}, which does not agree with {}; leave the option out, or choose "
                    "another state file",
                    file, holds, with));
  };
  const bool resets = !flags.reset_every.empty();
  const std::string said =
      resets ? "--reset-every " + flags.reset_every : "--window " + flags.length;
  if (!loaded) disagree("no window", said);
  if (loaded->length != asked->length || loaded->clock != asked->clock)
    disagree("a window that is " + show_window(*loaded), said + (event_time ? " --time" : ""));
  if ((flags.kind_flag->given() || resets) && loaded->kind != asked->kind)
    disagree("a window that is " + show_window(*loaded),
             resets ? said : "--window-kind " + flags.kind_flag->text());
  if (flags.no_refresh && structure.parameters().find("refresh=yes") != std::string::npos)
    disagree("a window that repeats renew", "--no-refresh");
}

std::string show_window(const Window& window) {
  constexpr const char* clocks[] = {"", " by the time of arrival", " by the time of the records"};
  return fmt::format("{}, {}{}", kind_names[static_cast<int>(window.kind)],
                     show_length(window, static_cast<double>(window.length)),
                     clocks[static_cast<int>(window.clock)]);
}

std::string show_reach(const Window& window, const Structure& structure) {
  if (window.kind == Window::Kind::Landmark) return "everything is forgotten at each end of it";
  const auto kept = static_cast<double>(generations(window, structure));
  const auto step = static_cast<double>(window.step);
  return fmt::format("no repeat is missed within {}, none is found for certain beyond {}",
                     show_length(window, kept * step), show_length(window, (kept + 1) * step));
}

}  // namespace weir::cli
