#include "core/params.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weir {
namespace {

std::string number(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;  // shortest exact
  return {buffer, end};
}

template <class Number>
Number parse_number(std::string_view name, const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw Error(ErrorCode::Config, "parameter " + std::string(name) + "='" + text + "' is not a " +
                                       (std::is_integral_v<Number> ? "whole number" : "number"));
  return value;
}

template <class Number>
Number within(std::string_view name, Number value, Number least, Number most) {
  if (!(value >= least && value <= most)) {
    const auto show = [](Number n) {
      if constexpr (std::is_integral_v<Number>)
        return std::to_string(n);
      else
        return number(n);
    };
    throw Error(ErrorCode::Config, "parameter " + std::string(name) + "=" + show(value) +
                                       " is out of range: it must be between " + show(least) +
                                       " and " + show(most));
  }
  return value;
}

}  // namespace

Params Params::parse(std::string_view text) {
  Params params;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size())
      throw Error(ErrorCode::Config,
                  "parameter '" + std::string(item) + "' must have the form name=value, as in k=3");
    const std::string name(item.substr(0, equals));
    if (params.has(name)) throw Error(ErrorCode::Config, "parameter " + name + " is given twice");
    params.pairs_.emplace_back(name, item.substr(equals + 1));
  }
  return params;
}

bool Params::has(std::string_view name) const noexcept {
  return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& p) { return p.first == name; });
}

void Params::require_known(const StructureInfo& info) const {
  for (const auto& [name, value] : pairs_) {
    const auto known = [&name = name](const ParameterInfo& p) { return name == p.name; };
    if (std::any_of(info.parameters.begin(), info.parameters.end(), known)) continue;
    std::string list;
    for (const auto& p : info.parameters) list += (list.empty() ? "" : ", ") + std::string(p.name);
    throw Error(ErrorCode::Config, std::string(info.name) + " has no parameter '" + name +
                                       "'; it has " + (list.empty() ? "none" : list));
  }
}

const std::string& Params::value(std::string_view name) const {
  for (const auto& [key, value] : pairs_)
    if (key == name) return value;
  throw Error(ErrorCode::Config, "parameter " + std::string(name) + " is missing");
}

std::uint64_t Params::whole(std::string_view name, std::uint64_t least, std::uint64_t most) const {
  return within(name, parse_number<std::uint64_t>(name, value(name)), least, most);
}

double Params::real(std::string_view name, double least, double most) const {
  return within(name, parse_number<double>(name, value(name)), least, most);
}

std::size_t Params::choice(std::string_view name, std::span<const char* const> choices) const {
  const std::string& given = value(name);
  std::string list;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (given == choices[i]) return i;
    list += (i == 0 ? "" : ", ") + std::string(choices[i]);
  }
  throw Error(ErrorCode::Config,
              "parameter " + std::string(name) + "='" + given + "' must be one of: " + list);
}

void Params::erase(std::string_view name) {
  std::erase_if(pairs_, [&](const auto& p) { return p.first == name; });
}

std::optional<double> Params::take_real(std::string_view name, double least, double most) {
  if (!has(name)) return {};
  const double taken = real(name, least, most);
  erase(name);
  return taken;
}
std::optional<std::uint64_t> Params::take_whole(std::string_view name, std::uint64_t least,
                                                std::uint64_t most) {
  if (!has(name)) return {};
  const std::uint64_t taken = whole(name, least, most);
  erase(name);
  return taken;
}
std::optional<std::size_t> Params::take_choice(std::string_view name,
                                               std::span<const char* const> choices) {
  if (!has(name)) return {};
  const std::size_t taken = choice(name, choices);
  erase(name);
  return taken;
}

void Params::fill(std::string_view name, std::uint64_t value) {
  fill(name, std::string_view(std::to_string(value)));
}
void Params::fill(std::string_view name, double value) {
  fill(name, std::string_view(number(value)));
}
void Params::fill(std::string_view name, std::string_view value) {
  if (!has(name)) pairs_.emplace_back(name, value);
}

std::string Params::text() const {
  std::string out;
  for (const auto& [name, value] : pairs_) {
    if (!out.empty()) out += ',';
    out.append(name).append("=").append(value);
  }
  return out;
}

}  // namespace weir
