// Times as they are written in records.
#include "key/time.hpp"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr std::int64_t second = 1'000'000;

TEST(Time, IsReadAsRfc3339) {
  EXPECT_EQ(parse_time("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_time("2026-11-16T03:26:07Z"), 1794799567 * second);
  EXPECT_EQ(parse_time("2026-11-16T04:26:07+01:00"), 1794799567 * second);
  EXPECT_EQ(parse_time("2026-11-15T21:56:07-05:30"), 1794799567 * second);
  EXPECT_EQ(parse_time("2026-11-16 03:26:07"), 1794799567 * second);
  EXPECT_EQ(parse_time("2026-11-16t03:26:07.25z"), 1794799567 * second + 250'000);
  EXPECT_EQ(parse_time("2026-11-16T03:26:07.1234567891Z"), 1794799567 * second + 123'456);
  EXPECT_EQ(parse_time("1969-12-31T23:59:59.999999Z"), -1);
  EXPECT_EQ(parse_time("2016-12-31T23:59:60Z"), parse_time("2017-01-01T00:00:00Z"));
  EXPECT_EQ(parse_time("2024-02-29T00:00:00Z"), 1709164800 * second);
  EXPECT_TRUE(parse_time("0000-01-01T00:00:00Z").has_value());
  EXPECT_TRUE(parse_time("9999-12-31T23:59:60Z").has_value());
}

TEST(Time, IsReadAsTimeSince1970InTheUnitThatItsSizeSays) {
  EXPECT_EQ(parse_time("0"), 0);
  EXPECT_EQ(parse_time("-1.5"), -1'500'000);
  EXPECT_EQ(parse_time("1794799567"), 1794799567 * second);
  EXPECT_EQ(parse_time("1794799567.25"), 1794799567 * second + 250'000);
  EXPECT_EQ(parse_time("1794799567250"), 1794799567 * second + 250'000);
  EXPECT_EQ(parse_time("1794799567250000"), 1794799567 * second + 250'000);
  EXPECT_EQ(parse_time("1794799567250000000"), 1794799567 * second + 250'000);
  EXPECT_EQ(parse_time("1.794799567e9"), 1794799567 * second);
  EXPECT_EQ(parse_time("99999999999"), 99999999999 * second);
  EXPECT_EQ(parse_time("100000000000"), 100000000 * second);
}

TEST(Time, IsNothingElse) {
  for (const char* text : {"",
                           " ",
                           "x",
                           "2026-11-16",
                           "2026-11-16T",
                           "2026-11-16T03:26:07+0100",
                           "2026-11-16T03:26:07 ",
                           "2026-11-16T03:26:07.",
                           "2026-11-16T03:26:07+01",
                           "2026-00-01T00:00:00Z",
                           "2026-04-31T00:00:00Z",
                           "2025-02-29T00:00:00Z",
                           "2026-11-16T25:00:00Z",
                           "2026-11-16T00:60:00Z",
                           "2026-11-16T00:00:61Z",
                           "2026-11-16T00:00:00+24:00",
                           "+2026-11-16T00:00:00Z",
                           "nan",
                           "inf",
                           "-inf",
                           "1e300",
                           "-1e21",
                           "0x10",
                           "1 2",
                           "1,5"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace weir
