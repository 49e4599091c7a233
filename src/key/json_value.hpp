// Equal JSON values as equal bytes, whatever the spacing, the order of members or the way a
// string or number is written: {"b":1.0,"a":"\u0041"} and { "a": "A", "b": 1 } are equal.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

namespace weir {

// Appends the value; members by name, numbers by value, strings in quotes with \ before quotes
// and backslashes only. With ignore_case ASCII letters of names and strings are lowered.
void append_canonical(simdjson::dom::element value, bool ignore_case, std::string& out);

// The text of a valid value, without blanks around it, is what append_canonical would make of it.
// False also where that would take long to find out.
bool is_canonical(std::string_view text);

// A number, or a string that holds one.
std::optional<double> number_of(simdjson::dom::element value);

}  // namespace weir
