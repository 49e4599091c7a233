// weir dedup: the window, from its flags to the filter that holds it.
#pragma once

#include <optional>
#include <string>

#include "making.hpp"
#include "weir/snapshot.hpp"

namespace weir::cli {

struct WindowFlags {
  std::string length, reset_every;  // at most one of the two
  Window::Kind kind = Window::Kind::Sliding;
  bool no_refresh = false;
  const Flag* kind_flag = nullptr;

  void declare(Command& command);
};

// What was asked for; its step is not known before there is a filter.
std::optional<Window> window_of(const WindowFlags& flags, bool event_time);

// A filter that holds the window at the FPR, and the window with its step. Throws Error(Config)
// when the memory does not suffice, with what would.
StructurePtr make_for_window(Window& window, const WindowFlags& flags, MakingFlags making);

// Refuses when a state's window is not what the flags ask for.
void require_window(const std::optional<Window>& loaded, const Structure& structure,
                    const WindowFlags& flags, bool event_time, const std::string& file);

// "sliding, 24 h of event time": for people.
std::string show_window(const Window& window);
// What is found for certain, and when it is forgotten.
std::string show_reach(const Window& window, const Structure& structure);

}  // namespace weir::cli
