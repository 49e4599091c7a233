#include "dedup_window.hpp"

#include <fmt/format.h>

#include <cmath>

#include "plan/window_making.hpp"
#include "sizes.hpp"

namespace weir::cli {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

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
  const WindowWish wish = {.filter = making.is_auto() ? "" : making.filter,
                           .refresh = !flags.no_refresh,
                           .request = {.memory = making.memory,
                                       .fpr = making.fpr,
                                       .keys = making.keys.value_or(0),
                                       .shards = making.shards},
                           .window_option = "--window",
                           .filter_option = "-f"};
  return weir::make_for_window(window, wish, [&](const std::string& spec, const Request& request) {
    making.filter = spec;
    if (request.keys != 0) making.keys = request.keys;
    return making.make();
  });
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
  return fmt::format("{}, {}{}", kind_name(window.kind),
                     show_length(window, static_cast<double>(window.length)),
                     clocks[static_cast<int>(window.clock)]);
}

std::string show_reach(const Window& window, const Structure& structure) {
  if (window.kind == Window::Kind::Landmark) return "everything is forgotten at each end of it";
  const auto kept = static_cast<double>(generations_kept(window, structure));
  const auto step = static_cast<double>(window.step);
  return fmt::format("no repeat is missed within {}, none is found for certain beyond {}",
                     show_length(window, kept * step), show_length(window, (kept + 1) * step));
}

}  // namespace weir::cli
