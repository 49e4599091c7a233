// The quick reader never accepts what the parser refuses, and finds what the parser finds.
#include "key/plain_json.hpp"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "key/json_value.hpp"

namespace weir {
namespace {

using Found = PlainJson::Found;

using Pointers = std::vector<std::string>;
const Pointers four = {"/a", "/a/b", "/b//c", "/"};

// What the quick reader says of a line, if the parser agrees; a failure if not.
Found judged(const std::string& line, const Pointers& pointers = four) {
  const PlainJson plain(pointers);
  static simdjson::dom::parser parser;
  std::vector<std::string_view> values(pointers.size());
  const std::string padded = line + "\n" + std::string(simdjson::SIMDJSON_PADDING, '"');
  const Found found = plain.find(padded.data(), values);
  if (found == Found::NotPlain) return found;
  if (!simdjson::validate_utf8(line)) return Found::NotPlain;  // asked before
  simdjson::dom::element document;
  const auto error = parser.parse(line).get(document);
  EXPECT_EQ(error, simdjson::SUCCESS) << line;
  if (error != simdjson::SUCCESS) return found;
  bool all = true;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    simdjson::dom::element value;
    if (document.at_pointer(pointers[i]).get(value) != simdjson::SUCCESS) {
      all = false;
      EXPECT_EQ(values[i], std::string_view()) << line << " " << pointers[i];
      continue;
    }
    std::string wanted, got;
    append_canonical(value, false, wanted);
    simdjson::dom::parser other;
    append_canonical(other.parse(values[i].data(), values[i].size()).value(), false, got);
    EXPECT_EQ(got, wanted) << line << " " << pointers[i];
    if (is_canonical(values[i])) {
      EXPECT_EQ(values[i], wanted) << line;
    }
  }
  EXPECT_EQ(found, all ? Found::All : Found::NotAll) << line;
  return found;
}

TEST(PlainJsonTest, UsualLinesArePlain) {
  for (const char* line : {
           R"({"a":{"b":1},"b":{"":{"c":"x"}},"":0})",
           " { \"a\" : { \"b\" : -0 , \"x\" : [ ] } ,\t\"b\":{\"\":{\"c\":[1,{}]}},\"\":true }\r",
           R"({"x":["\u00e9\ud83d\ude00\n\"\\\/"],"a":{"b":"\u0041"},"b":{"":{"c":{}}},"":null})",
           R"({"":9999999999999999999,"a":{"b":-999999999999999999},"b":{"":{"c":1.5E+10}}})",
       })
    EXPECT_EQ(judged(line), Found::All) << line;
  for (const char* line : {"{}", "[]", "[[1,2.5,-3e-7],\"a\",true,false,null,{}]", "{\"a\":[1]}",
                           R"({"a":1,"a":{"b":2},"b":{"":{"c":3}},"":4})"})
    EXPECT_EQ(judged(line), Found::NotAll) << line;
}

TEST(PlainJsonTest, WhatIsNotCertainIsLeftToTheParser) {
  for (const std::string line : {"",
                                 " ",
                                 "1",
                                 "\"a\"",
                                 "{",
                                 "[",
                                 "[1",
                                 "{\"a\"}",
                                 "{\"a\":}",
                                 "{\"a\":1,}",
                                 "[1,]",
                                 "[,1]",
                                 "{a:1}",
                                 "{\"a\":1}}",
                                 "[]]",
                                 "[] []",
                                 "[1 2]",
                                 "[01]",
                                 "[-]",
                                 "[+1]",
                                 "[.5]",
                                 "[1.]",
                                 "[1e]",
                                 "[1e+]",
                                 "[0x1]",
                                 "[1a]",
                                 "[tru]",
                                 "[truex]",
                                 "[nul]",
                                 "[NaN]",
                                 "{\"a\":1]",
                                 "[1}",
                                 "[\"\t\"]",
                                 "[\"a]",
                                 "[\"\\\"]",
                                 "[\"\\x\"]",
                                 "[\"\\u12\"]",
                                 "[\"\\u12g4\"]",
                                 "[\"\\ud800\"]",
                                 "[\"\\ud800\\u0041\"]",
                                 "[\"\\udc00\"]",
                                 "{\"\\u0061\":1}",
                                 "[18446744073709551616]",
                                 "[-9223372036854775809]",
                                 "[1e400]",
                                 "{\"a\":1 \"b\":2}",
                                 "\xef\xbb\xbf[]",
                                 "[1]\v",
                                 "{1:2}",
                                 "{\"a\"=1}"})
    EXPECT_EQ(judged(line), Found::NotPlain) << line;
  EXPECT_EQ(judged(std::string(64, '[') + std::string(64, ']')), Found::NotAll);
  EXPECT_EQ(judged(std::string(66, '[') + std::string(66, ']')), Found::NotPlain);
}

TEST(PlainJsonTest, SomePointersAreTheParsers) {
  EXPECT_TRUE(PlainJson({"/a", "/b1/2c", "/"}).can());
  for (const char* pointer : {"", "/0", "/a/12/b", "/a~1b", "/~0"})
    EXPECT_FALSE(PlainJson({"/a", pointer}).can()) << pointer;
  EXPECT_FALSE(PlainJson({}).can());
  EXPECT_TRUE(PlainJson(std::vector<std::string>(64, "/a")).can());
  EXPECT_FALSE(PlainJson(std::vector<std::string>(65, "/a")).can());
}

// Random documents, most of them with a few bytes changed, lost or doubled.
TEST(PlainJsonTest, TheParserAgreesOnRandomLines) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  using Choice = std::vector<std::string>;
  const Choice names = {"a", "b", "", "c", "longer than sixteen"};
  const Choice scalars = {"0",
                          "-0",
                          "-1",
                          "12",
                          "1.5",
                          "2.50e3",
                          "1e-9",
                          "1E+99",
                          "true",
                          "false",
                          "null",
                          "{}",
                          "[]",
                          "\"\"",
                          "\"a\"",
                          "\"b c\"",
                          "\"\xc3\xa9\"",
                          "\"\\u00e9\"",
                          "\"\\ud83d\\ude00\"",
                          "\"\\\\\"",
                          "\"\\\"\"",
                          "9223372036854775807",
                          "9999999999999999999",
                          "\"twenty bytes and more of text\""};
  // Valid, but not plain.
  const Choice rare_names = {"\\u0061", "x\\n"};
  const Choice rare_scalars = {"-9223372036854775808", "1e308", "18446744073709551615"};
  const auto choose = [&](const Choice& usual, const Choice& rare) -> const std::string& {
    const Choice& from = below(80) == 0 ? rare : usual;
    return from[below(from.size())];
  };
  const auto make = [&](auto& self, unsigned depth) -> std::string {
    const std::string blank(below(8) == 0 ? 1 : 0, " \t\r"[below(3)]);
    if (depth == 5 || (depth > 0 && below(10) < 4))
      return blank + choose(scalars, rare_scalars) + blank;
    const bool object = depth == 0 || below(4) != 0;
    std::string out(1, object ? '{' : '[');
    for (std::size_t i = 0, count = 1 + below(5); i < count; ++i) {
      if (i > 0) out += ',';
      if (object) out += blank + '"' + choose(names, rare_names) + "\":";
      out += self(self, depth + 1);
    }
    return out + blank + (object ? '}' : ']') + blank;
  };
  constexpr std::string_view bytes = "{}[]:,\"\\ \t0123456789-+.eEutfnralsd/x\x01\x80\xc3";
  std::array<std::size_t, 3> seen{};
  for (int round = 0; round < 30'000 && !HasFailure(); ++round) {
    std::string line = make(make, 0);
    for (std::size_t changes = below(4); changes > 0 && !line.empty(); --changes) {
      const std::size_t at = below(line.size());
      const std::size_t kind = below(3);
      if (kind == 0) line[at] = bytes[below(bytes.size())];
      if (kind == 1) line.erase(at, 1);
      if (kind == 2) line.insert(at, 1, bytes[below(bytes.size())]);
    }
    const Pointers one = {four[below(four.size())]};
    ++seen[static_cast<std::size_t>(judged(line, below(4) == 0 ? four : one))];
  }
  for (const std::size_t count : seen) EXPECT_GT(count, 1000u);
}

}  // namespace
}  // namespace weir
