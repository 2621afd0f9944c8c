#include "base/debug.h"

#include <gtest/gtest.h>

#include <string_view>

namespace lowtide {
namespace {

const char* all_set(const char* name) {
  const std::string_view text = name;
  if (text == "LOWTIDE_DEBUG") return "3,fold-constants,inline-calls";
  if (text == "LOWTIDE_DUMP") return "stages";
  if (text == "LOWTIDE_DISABLE") return "a,,b";
  if (text == "LOWTIDE_CHECK" || text == "LOWTIDE_POISON") return "1";
  if (text == "LOWTIDE_THREADS") return "3";
  return nullptr;
}

TEST(Knobs, ReadFromTheEnvironment) {
  const Knobs knobs = read_knobs(all_set);
  EXPECT_EQ(knobs.debug, 3);
  EXPECT_EQ(knobs.debug_filter, (std::vector<std::string>{"fold-constants", "inline-calls"}));
  EXPECT_EQ(knobs.dump_directory, "stages");
  EXPECT_EQ(knobs.disabled, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(knobs.check);
  EXPECT_TRUE(knobs.poison);
  EXPECT_EQ(knobs.threads, 3);
}

TEST(Knobs, UnsetMeansOff) {
  const Knobs knobs = read_knobs([](const char*) -> const char* { return nullptr; });
  EXPECT_EQ(knobs.debug, 0);
  EXPECT_TRUE(knobs.dump_directory.empty());
  EXPECT_TRUE(knobs.disabled.empty());
  EXPECT_FALSE(knobs.check);
  EXPECT_FALSE(knobs.poison);
  EXPECT_EQ(knobs.threads, 0);
}

}  // namespace
}  // namespace lowtide
