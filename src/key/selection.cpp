#include "key/selection.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "weir/error.hpp"

namespace weir {
namespace {

[[noreturn]] void refuse(std::string_view list) {
  throw Error(ErrorCode::Config, "'" + std::string(list) +
                                     "' is not a list of fields; write numbers from 1 on and "
                                     "ranges, as in 2,4-5 or 3-");
}

std::uint64_t parse_number(std::string_view text, std::string_view list) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || number == 0 || number > 1'000'000'000) refuse(list);
  return number - 1;
}

FieldRange parse_range(std::string_view item, std::string_view list) {
  const auto dash = item.find('-');
  if (dash == std::string_view::npos) {
    const std::uint64_t only = parse_number(item, list);
    return {only, only, only};
  }
  if (item == "-") refuse(list);
  const std::uint64_t first = dash == 0 ? 0 : parse_number(item.substr(0, dash), list);
  const std::uint64_t last =
      dash + 1 == item.size() ? FieldRange::open_end : parse_number(item.substr(dash + 1), list);
  if (last < first) refuse(list);
  return {first, last, last == FieldRange::open_end ? first : last};
}

}  // namespace

std::vector<FieldRange> parse_fields(std::string_view list) {
  std::vector<FieldRange> ranges;
  for (std::size_t at = 0; at <= list.size();) {
    const auto comma = std::min(list.find(',', at), list.size());
    ranges.push_back(parse_range(list.substr(at, comma - at), list));
    at = comma + 1;
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const FieldRange& a, const FieldRange& b) { return a.first < b.first; });
  std::vector<FieldRange> merged;
  for (const FieldRange& range : ranges) {
    if (!merged.empty() &&
        (merged.back().last == FieldRange::open_end || range.first <= merged.back().last + 1))
      merged.back() = {merged.back().first, std::max(merged.back().last, range.last),
                       std::max(merged.back().needed, range.needed)};
    else
      merged.push_back(range);
  }
  return merged;
}

}  // namespace weir
