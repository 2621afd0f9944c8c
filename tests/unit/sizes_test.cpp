#include "base/sizes.h"

#include <gtest/gtest.h>

namespace lowtide::engine {
namespace {

TEST(ParseSize, UnitsAndPowers) {
  EXPECT_EQ(*parse_size("4096"), 4096);
  EXPECT_EQ(*parse_size("8GiB"), int64_t{8} << 30);
  EXPECT_EQ(*parse_size("8G"), int64_t{8} << 30);
  EXPECT_EQ(*parse_size("8GB"), 8000000000);
  EXPECT_EQ(*parse_size("1.5 MiB"), 3 << 19);
  EXPECT_EQ(*parse_size("2k"), 2048);
  EXPECT_EQ(*parse_size("12 B"), 12);
  EXPECT_EQ(*parse_size("9223372036854775807"), INT64_MAX);
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "GiB", "8X", "8GiBs", "-1", "1.2.3", "1e9", "99999999999999999999", "9000000P", "0x10", "."}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_EQ(size.status().fault(), Fault::kUsage) << text;
  }
}

TEST(FormatBytes, ThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(int64_t{4} << 30), "4.00 GiB");
  EXPECT_EQ(format_bytes(int64_t{26} << 30), "26.0 GiB");
  EXPECT_EQ(format_bytes(int64_t{640} << 20), "640 MiB");
  EXPECT_EQ(format_bytes((int64_t{1} << 30) - 1), "1.00 GiB");
  EXPECT_EQ(format_bytes(-(int64_t{12} << 20)), "-12.0 MiB");
  EXPECT_EQ(format_bytes(12800), "12.5 KiB");
}

TEST(FormatCount, Groups) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1947), "1,947");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
}

}  // namespace
}  // namespace lowtide::engine
