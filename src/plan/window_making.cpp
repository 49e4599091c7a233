#include "plan/window_making.hpp"

#include <algorithm>
#include <cstdio>

#include "plan/window_sizing.hpp"

namespace weir {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

constexpr std::uint64_t most_generations = 64;  // of apbf
constexpr const char* kind_names[] = {"sliding", "jumping", "landmark"};
constexpr const char* filters[] = {"apbf", "a2", "blocked-bloom"};

// The value of a parameter in "NAME:a=1,b=2" or "a=1,b=2"; nothing where it is not given.
std::optional<std::string_view> parameter(std::string_view spec, std::string_view name) {
  spec.remove_prefix(spec.find(':') + 1);  // 0 when there is none
  while (!spec.empty()) {
    const auto comma = std::min(spec.find(','), spec.size());
    const std::string_view item = spec.substr(0, comma);
    if (item.size() > name.size() && item.starts_with(name) && item[name.size()] == '=')
      return item.substr(name.size() + 1);
    spec.remove_prefix(std::min(comma + 1, spec.size()));
  }
  return std::nullopt;
}

bool can_hold(Window::Kind kind, const StructureInfo& info) {
  if (kind == Window::Kind::Landmark) return info.kind == Kind::Filter && !info.forgets;
  return info.name == std::string_view(filters[static_cast<std::size_t>(kind)]);
}

std::string spec_of(const Window& window, const WindowWish& wish, std::uint64_t records) {
  const auto kind = static_cast<std::size_t>(window.kind);
  std::string spec = wish.filter.empty() ? filters[kind] : wish.filter;
  const std::string name = spec.substr(0, spec.find(':'));
  const StructureInfo* const info = find_structure(name);
  if (info != nullptr && !can_hold(window.kind, *info))
    refuse(std::string("a ") + kind_names[kind] + " window cannot be held by " + name + "; leave " +
           wish.filter_option + " out, or choose " + filters[kind]);
  if (window.kind == Window::Kind::Landmark) return spec;
  for (const char* own : {"g", "window", "refresh"})
    if (parameter(spec, own))
      refuse(std::string(wish.window_option) + " says what " + own + " is; leave it out of " +
             wish.filter_option + " " + name);
  const auto add = [&](const char* own, const std::string& value) {
    spec.append(spec.find(':') == std::string::npos ? ":" : ",").append(own).append(value);
  };
  add("g=", "0");
  // A step is at least a record: of few records there are as many steps as make the window as long
  // as it is asked to be.
  if (window.kind == Window::Kind::Sliding && window.clock == Window::Clock::Records &&
      window.length < 16 * most_generations && !parameter(spec, "l")) {
    const std::uint64_t step = (window.length + most_generations - 1) / most_generations;
    add("l=", std::to_string((window.length + step - 1) / step));
  }
  if (records != 0) add("window=", std::to_string(share_of_shard(records, wish.request.shards)));
  if (!wish.refresh) add("refresh=", "no");
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
void require_room(const Structure& structure, const std::string& spec, const Request& request,
                  const MakeStructure& make) {
  const double most = request.fpr * 1.01;  // it was sized in whole lines
  const std::uint64_t records = request.keys;
  if (fpr_behind(structure, records) <= most) return;
  Request other = request;
  std::uint64_t low = 0, high = records;
  while (high - low > std::max<std::uint64_t>(low / 100, 1)) {
    const std::uint64_t middle = low + (high - low) / 2;
    other.keys = middle;
    (fpr_behind(*make(spec, other), middle) <= most ? low : high) = middle;
  }
  const StructurePtr enough =
      make_structure(spec, {.fpr = request.fpr, .keys = records, .shards = request.shards});
  char fpr[32];
  std::snprintf(fpr, sizeof fpr, "%g", request.fpr);
  refuse(std::string(structure.info().name) + " with an FPR of " + fpr + " in " +
         std::to_string(request.memory) + " bytes holds a window of " + std::to_string(low) +
         " records; a window of " + std::to_string(records) + " records needs " +
         std::to_string((enough->memory() + 4095) / 4096 * 4096 + budget_reserve) + " bytes");
}

}  // namespace

const char* kind_name(Window::Kind kind) noexcept { return kind_names[static_cast<int>(kind)]; }

std::uint64_t generations_kept(const Window& window, const Structure& structure) {
  if (window.kind == Window::Kind::Sliding) {
    const std::string all = structure.parameters();
    const auto l = parameter(all, "l");  // a forged state may have none
    return l ? std::strtoull(std::string(*l).c_str(), nullptr, 10) : 0;
  }
  return window.kind == Window::Kind::Jumping ? 1 : 0;
}

StructurePtr make_for_window(Window& window, const WindowWish& wish, const MakeStructure& make) {
  const bool landmark = window.kind == Window::Kind::Landmark;
  Request request = wish.request;
  if (window.clock == Window::Clock::Records)
    request.keys =
        landmark && request.keys != 0 ? std::min(window.length, request.keys) : window.length;
  const std::string spec = spec_of(window, wish, request.keys);
  StructurePtr structure = make(spec, request);
  if (landmark && request.keys != 0) require_room(*structure, spec, request, make);
  const std::uint64_t kept = std::max<std::uint64_t>(generations_kept(window, *structure), 1);
  window.step = (window.length + kept - 1) / kept;
  return structure;
}

void require_holds(const Structure& structure, const Window& window) {
  const bool ages_alone =
      window.kind != Window::Kind::Landmark && parameter(structure.parameters(), "g") != "0";
  if (!can_hold(window.kind, structure.info()) || ages_alone)
    throw Error(ErrorCode::BadState, std::string("the state is damaged: ") + structure.info().name +
                                         " cannot hold its " + kind_name(window.kind) + " window");
}

}  // namespace weir
