// Records are cut where a byte-by-byte reading of the rules would cut them, however the bytes
// arrive.
#include "source/cutter.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "source/buffer.hpp"

namespace weir {
namespace {

using Ends = std::vector<std::uint64_t>;

// The rules, one byte at a time.
Ends ends_by_the_rules(const std::string& text, const RecordFormat& format) {
  Ends ends;
  bool inside = false, may_open = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (format.kind == Records::Csv && inside) {
      if (c != '"') continue;
      if (i + 1 < text.size() && text[i + 1] == '"') {
        ++i;  // doubled
      } else {
        inside = may_open = false;
      }
      continue;
    }
    if (c == (format.kind == Records::Nul ? '\0' : '\n')) {
      ends.push_back(i + 1);
      may_open = true;
    } else if (format.kind == Records::Csv && c == '"' && may_open) {
      inside = true;
    } else {
      may_open = c == format.separator;
    }
  }
  return ends;
}

// In steps, at most `most` at a time, each time from the beginning of a record.
Ends ends_by_the_cutter(const std::string& text, const RecordFormat& format, std::size_t step,
                        std::size_t most) {
  Cutter cutter(format);
  Ends all;
  std::uint64_t begin = 0, arrived = std::min(step, text.size());
  for (;;) {
    Buffer buffer;
    buffer.reserve(text.size() - begin + 1);
    std::copy(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), buffer.data());
    cutter.restart();
    PlainArray<std::uint64_t> ends;
    std::uint64_t looked = 0;
    for (;;) {
      looked = cutter.cut(buffer.data(), 0, looked, arrived - begin, most, ends);
      if (!ends.empty() || arrived == text.size()) break;
      arrived = std::min(arrived + step, text.size());
    }
    if (ends.empty()) return all;
    EXPECT_LE(ends.size(), most);
    for (const std::uint64_t end : ends.all()) all.push_back(begin + end);
    begin = all.back();
  }
}

RC_GTEST_PROP(CutterTest, CutsByTheRules, ()) {
  RecordFormat format;
  format.kind = *rc::gen::element(Records::Lines, Records::Nul, Records::Csv);
  const auto text = *rc::gen::container<std::string>(
      rc::gen::weightedElement<char>({{10, 'a'}, {2, ','}, {2, '"'}, {2, '\n'}, {1, '\0'}}));
  // Long enough for several vectors.
  const std::string longer = text + std::string(*rc::gen::inRange(0, 130), 'x') + text;
  const auto step = *rc::gen::inRange<std::size_t>(1, 200);
  const auto most = *rc::gen::inRange<std::size_t>(1, 40);
  RC_ASSERT(ends_by_the_cutter(longer, format, step, most) == ends_by_the_rules(longer, format));
}

TEST(CutterTest, FixedWidthsNeedNoLook) {
  RecordFormat format;
  format.kind = Records::Fixed;
  format.width = 3;
  EXPECT_EQ(ends_by_the_cutter("abcabcab", format, 2, 10), (Ends{3, 6}));
}

}  // namespace
}  // namespace weir
