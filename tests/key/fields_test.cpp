// Fields as sort, cut and RFC 4180 see them; JSON values equal where their bytes are not.
#include "key/fields.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "key/json_value.hpp"
#include "key/selection.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

using Fields = std::vector<std::string>;

// Searches look at whole vectors: the bytes behind the record must be readable, and not matter.
std::string padded(const std::string& record) { return record + std::string(64, ','); }

template <class Walk>
Fields walked(const std::string& record, Walk walk, const char* broken = nullptr) {
  const std::string memory = padded(record);
  Fields fields;
  const char* const told = walk(std::string_view(memory).substr(0, record.size()),
                                [&](std::size_t index, std::string_view value, bool) {
                                  EXPECT_EQ(index, fields.size());
                                  fields.emplace_back(value);
                                  return true;
                                });
  EXPECT_EQ(told == nullptr, broken == nullptr) << record;
  if (told != nullptr && broken != nullptr) {
    EXPECT_NE(std::string(told).find(broken), std::string::npos);
  }
  return fields;
}

const auto by_comma = [](std::string_view r, auto found) { return walk_separated(r, ',', found); };
const auto by_blanks = [](std::string_view r, auto found) { return walk_blanks(r, found); };
const auto as_csv = [](std::string_view r, auto found) { return walk_csv(r, ',', found); };

TEST(FieldsTest, AByteSeparates) {
  EXPECT_EQ(walked("a,b,,c", by_comma), (Fields{"a", "b", "", "c"}));
  EXPECT_EQ(walked("", by_comma), (Fields{""}));
  EXPECT_EQ(walked(",", by_comma), (Fields{"", ""}));
  const std::string longer(100, 'x');
  EXPECT_EQ(walked(longer + "," + longer, by_comma), (Fields{longer, longer}));
}

TEST(FieldsTest, RunsOfBlanksSeparate) {
  EXPECT_EQ(walked("  a \t b  ", by_blanks), (Fields{"a", "b"}));
  EXPECT_EQ(walked(" \t ", by_blanks), Fields{});
}

TEST(FieldsTest, RowsOfCsv) {
  EXPECT_EQ(walked(R"(a,"b,c",d"e,"",)", as_csv), (Fields{"a", "b,c", "d\"e", "", ""}));
  EXPECT_EQ(walked(R"("say ""x""",2)", as_csv), (Fields{R"(say ""x"")", "2"}));
  EXPECT_EQ(walked("", as_csv), Fields{});
  walked(R"(a,"b)", as_csv, "never closed");
  walked(R"("a""",b,"c""d)", as_csv, "never closed");
  walked(R"("a"x,b)", as_csv, "behind closing quotes");
  const std::string longer = std::string(70, 'x') + "\"\"" + std::string(70, 'y');
  EXPECT_EQ(walked("1,\"" + longer + "\",2", as_csv), (Fields{"1", longer, "2"}));
}

TEST(FieldsTest, ListsOfFieldsAreSortedAndMerged) {
  const auto shown = [](const char* list) {
    std::string text;
    for (const FieldRange& range : parse_fields(list))
      text += std::to_string(range.first) + "-" +
              (range.last == FieldRange::open_end ? "" : std::to_string(range.last)) + "/" +
              std::to_string(range.needed) + " ";
    return text;
  };
  EXPECT_EQ(shown("2,4-5"), "1-1/1 3-4/4 ");
  EXPECT_EQ(shown("5,1"), "0-0/0 4-4/4 ");
  EXPECT_EQ(shown("3-"), "2-/2 ");
  EXPECT_EQ(shown("-2"), "0-1/1 ");
  EXPECT_EQ(shown("1,2-"), "0-/1 ");
  EXPECT_EQ(shown("1-3,2-7,8"), "0-7/7 ");
  for (const char* wrong : {"", "0", "a", "1,", ",1", "2-1", "-", "1--2", "1-2-3", "99999999999"})
    EXPECT_THROW(parse_fields(wrong), Error) << wrong;
}

std::string canonical(const std::string& text, bool ignore_case = false) {
  simdjson::dom::parser parser;
  std::string out;
  append_canonical(parser.parse(text).value(), ignore_case, out);
  return out;
}

TEST(JsonValueTest, EqualValuesHaveEqualBytes) {
  const std::vector<std::vector<const char*>> classes = {
      {"1", "1.0", "1e0", "10e-1"},
      {"0", "-0.0", "0.0"},
      {"9223372036854775807"},
      {"18446744073709551615"},
      {"10000000000000000000", "1e19"},
      {"-1", "-1.0"},
      {"1.5", "15e-1"},
      {"1e300"},
      {"\"1\"", "\"\\u0031\""},
      {"\"a\\\"b\"", "\"a\\u0022b\""},
      {"\"a\\\\\""},
      {"true"},
      {"\"true\""},
      {"null"},
      {"[1,2]", "[ 1 , 2.0 ]"},
      {"[12]"},
      {"[[1],2]"},
      {R"({"a":1,"b":[{"d":1,"c":2}]})", R"({ "b" : [ {"c":2,"d":1} ], "\u0061" : 1 })"},
      {"{}"},
      {"[]"},
      {R"({"a":{"b":1}})"},
      {R"({"a":"b"})"},
  };
  std::vector<std::string> seen;
  for (const auto& equal : classes) {
    for (const char* text : equal) EXPECT_EQ(canonical(text), canonical(equal[0])) << text;
    for (const std::string& other : seen) EXPECT_NE(canonical(equal[0]), other);
    seen.push_back(canonical(equal[0]));
  }
}

TEST(JsonValueTest, CaseCanBeIgnoredInNamesAndStrings) {
  EXPECT_EQ(canonical(R"({"A":"X","b":2})", true), canonical(R"({"B":2,"a":"x"})", true));
  EXPECT_NE(canonical(R"({"A":1})"), canonical(R"({"a":1})"));
}

}  // namespace
}  // namespace weir
