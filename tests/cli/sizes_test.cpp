#include "sizes.hpp"

#include <gtest/gtest.h>

#include "weir/error.hpp"

namespace weir::cli {
namespace {

TEST(Sizes, AreBytesOrPowersOf1024) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("64K"), 65536u);
  EXPECT_EQ(parse_size("64k"), 65536u);
  EXPECT_EQ(parse_size("1.5M"), 1572864u);
  EXPECT_EQ(parse_size("2G"), std::uint64_t{2} << 30);
  EXPECT_EQ(parse_size("1T"), std::uint64_t{1} << 40);
  EXPECT_EQ(parse_size("4294967296"), std::uint64_t{1} << 32);
}

TEST(Sizes, RefuseEverythingElse) {
  for (const char* text : {"", " ", "K", "-1", "-1K", "1.5", "1e3", "0x10", "1KB", "1 K", " 1",
                           "1P", "nan", "inf", "1.2.3M", "4611686018427387904", "4194304T"})
    EXPECT_THROW(parse_size(text), Error) << "'" << text << "'";
}

TEST(Sizes, AreWrittenAsTheyAreRead) {
  EXPECT_EQ(write_size(0), "0");
  EXPECT_EQ(write_size(4097), "4097");
  EXPECT_EQ(write_size(64 << 10), "64K");
  EXPECT_EQ(write_size(256 << 20), "256M");
  for (const std::uint64_t bytes : {1u, 1024u, 1536u, 1572864u, 1u << 31})
    EXPECT_EQ(parse_size(write_size(bytes)), bytes);
}

TEST(WholeNumbers, AreDecimal) {
  EXPECT_EQ(parse_whole("0"), 0u);
  EXPECT_EQ(parse_whole("010"), 10u);
  EXPECT_EQ(parse_whole("18446744073709551615"), ~std::uint64_t{0});
  for (const char* text :
       {"", " ", "-1", "+1", " 1", "1 ", "0x10", "1e3", "1.0", "1K", "two", "18446744073709551616"})
    EXPECT_THROW(parse_whole(text), Error) << "'" << text << "'";
}

TEST(Intervals, AreTimesOrRecords) {
  EXPECT_EQ(parse_interval("30s").seconds, 30);
  EXPECT_EQ(parse_interval("1.5min").seconds, 90);
  EXPECT_EQ(parse_interval("24h").seconds, 86400);
  EXPECT_EQ(parse_interval("2d").seconds, 172800);
  EXPECT_EQ(parse_interval("2d").records, 0u);
  EXPECT_EQ(parse_interval("10M").records, 10'000'000u);
  EXPECT_EQ(parse_interval("1.5K").records, 1500u);
  EXPECT_EQ(parse_interval("7").records, 7u);
  EXPECT_EQ(parse_interval("7").seconds, 0);
  EXPECT_EQ(parse_interval("100000000000").records, 100'000'000'000u);
  EXPECT_THROW(parse_interval("2000000000G"), Error);
  for (const char* text : {"", "0", "0s", "-1", "1m", "1k", "1.5", "1ms", "h", "0.0001K", "1e3"})
    EXPECT_THROW(parse_interval(text), Error) << "'" << text << "'";
  EXPECT_EQ(show_duration(86400), "24 h");
  EXPECT_EQ(show_duration(86400 * 7), "7 days");
  EXPECT_EQ(show_duration(90), "90 s");
}

TEST(Sizes, AreShownAsPeopleReadThem) {
  EXPECT_EQ(show_bytes(1023), "1023 bytes");
  EXPECT_EQ(show_bytes(64 << 20), "64.0 MiB");
  EXPECT_EQ(show_bytes(~std::uint64_t{0}), "16777216.0 TiB");
  EXPECT_EQ(show_count(0), "0");
  EXPECT_EQ(show_count(999), "999");
  EXPECT_EQ(show_count(12345678), "12,345,678");
  EXPECT_EQ(show_percent(0), "0 %");
  EXPECT_EQ(show_percent(0.5), "50 %");
  EXPECT_EQ(show_percent(1e-7), "1.00e-05 %");
  EXPECT_EQ(show_age(1), "1 second ago");
  EXPECT_EQ(show_age(119), "119 seconds ago");
  EXPECT_EQ(show_age(600), "10 minutes ago");
  EXPECT_EQ(show_age(86400), "24 hours ago");
  EXPECT_EQ(show_age(3 * 86400), "3 days ago");
  EXPECT_EQ(show_age(-1), "in the future (the clock differs)");
}

}  // namespace
}  // namespace weir::cli
