#include "key/json_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "key/letters.hpp"

namespace weir {
namespace {

namespace dom = simdjson::dom;

void append_string(std::string_view text, bool ignore_case, std::string& out) {
  const std::size_t begin = out.size();
  out += '"';
  const auto has = [&](char c) { return std::memchr(text.data(), c, text.size()) != nullptr; };
  if (has('"') || has('\\')) {
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  } else {
    out += text;
  }
  out += '"';
  if (ignore_case) lower(std::span(out).subspan(begin));
}

template <class Number>
void append_number(Number number, std::string& out) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// A double that is a whole number is written like the integer that it equals.
void append_double(double number, std::string& out) {
  if (number == std::floor(number) && std::fabs(number) < 0x1p63)
    append_number(static_cast<std::int64_t>(number), out);
  else if (number >= 0x1p63 && number < 0x1p64)
    append_number(static_cast<std::uint64_t>(number), out);
  else
    append_number(number, out);
}

// Members by name, as it is written.
void append_object(dom::object object, bool ignore_case, std::string& out) {
  std::vector<std::pair<std::string, dom::element>> members;
  for (auto at = object.begin(); at != object.end(); ++at) {
    members.emplace_back(std::string(), at.value());
    append_string(at.key(), ignore_case, members.back().first);
  }
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  out += '{';
  for (const auto& [name, value] : members) {
    out += name;
    out += ':';
    append_canonical(value, ignore_case, out);
    out += ',';
  }
  out += '}';
}

}  // namespace

void append_canonical(dom::element value, bool ignore_case, std::string& out) {
  // The type says that get() succeeds.
  const auto as = [&]<class T>(T typed) {
    [[maybe_unused]] const auto error = value.get(typed);
    return typed;
  };
  switch (value.type()) {
    case dom::element_type::STRING:
      return append_string(as(std::string_view()), ignore_case, out);
    case dom::element_type::INT64:
      return append_number(as(std::int64_t{}), out);
    case dom::element_type::UINT64:
      return append_number(as(std::uint64_t{}), out);
    case dom::element_type::DOUBLE:
      return append_double(as(0.0), out);
    case dom::element_type::BOOL:
      out += as(false) ? "true" : "false";
      return;
    case dom::element_type::NULL_VALUE:
      out += "null";
      return;
    case dom::element_type::ARRAY:
      out += '[';
      for (const dom::element item : as(dom::array())) {
        append_canonical(item, ignore_case, out);
        out += ',';
      }
      out += ']';
      return;
    case dom::element_type::OBJECT:
      return append_object(as(dom::object()), ignore_case, out);
  }
}

bool is_canonical(std::string_view text) {
  switch (text[0]) {
    case '"':
      return std::memchr(text.data(), '\\', text.size()) == nullptr;
    case '{':
    case '[':
      return false;
    case 't':
    case 'f':
    case 'n':
      return true;
    default:  // a number of a few digits; -0 is 0
      return text.size() < 19 && text != "-0" && std::all_of(text.begin(), text.end(), [](char c) {
               return c == '-' || (c >= '0' && c <= '9');
             });
  }
}

std::optional<double> number_of(dom::element value) {
  double number = 0;
  if (value.get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return std::nullopt;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace weir
