// From a window that is asked for to the filter that holds it.
//
//   sliding   apbf           the end of the window is true to a few percent of its length
//   jumping   a2             a key is forgotten between one and two lengths after it came last
//   landmark  blocked-bloom  everything is forgotten after each length; any filter that does not
//                            forget by itself will do
#pragma once

#include <functional>
#include <string>

#include "weir/snapshot.hpp"

namespace weir {

struct WindowWish {
  std::string filter;   // NAME or NAME:parameter=value,...; empty: the one that the kind needs
  bool refresh = true;  // every record counts, not only those let through
  Request request;      // keys: records to expect within a window of time; 0: not known
  // What the user's options are called, for what is said when they do not fit.
  const char* window_option;
  const char* filter_option;
};
using MakeStructure = std::function<StructurePtr(const std::string& spec, const Request& request)>;

// A filter that holds the window at the FPR, and the window with its step. Throws Error(Config)
// when the memory does not suffice, with what would.
StructurePtr make_for_window(Window& window, const WindowWish& wish, const MakeStructure& make);

// Generations that a key is kept for, the one it came in not counted.
std::uint64_t generations_kept(const Window& window, const Structure& structure);

const char* kind_name(Window::Kind kind) noexcept;

// Refuses a window that a filter of this kind cannot hold: of a state that somebody made up.
// Throws Error(BadState).
void require_holds(const Structure& structure, const Window& window);

}  // namespace weir
