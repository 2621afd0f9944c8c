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
  EXPECT_EQ(knobs.changing, "LOWTIDE_DISABLE=a,,b\nLOWTIDE_CHECK=1\n") << "what names all that is kept";
}

TEST(Knobs, UnsetMeansOff) {
  const Knobs knobs = read_knobs([](const char*) -> const char* { return nullptr; });
  EXPECT_EQ(knobs.debug, 0);
  EXPECT_TRUE(knobs.dump_directory.empty());
  EXPECT_TRUE(knobs.disabled.empty());
  EXPECT_FALSE(knobs.check);
  EXPECT_FALSE(knobs.poison);
  EXPECT_EQ(knobs.threads, 0);
  EXPECT_FALSE(knobs.no_cache);
  EXPECT_TRUE(knobs.changing.empty());
}

template <int kValue>
const char* cache_is(const char* name) {
  constexpr const char* kValues[] = {"off", "", "0", "offs", "./off"};
  return std::string_view(name) == "LOWTIDE_CACHE" ? kValues[kValue] : nullptr;
}

TEST(Knobs, CacheCanBeOff) {
  for (const auto get : {cache_is<0>, cache_is<1>, cache_is<2>}) {
    EXPECT_TRUE(read_knobs(get).no_cache);
    EXPECT_TRUE(read_knobs(get).cache_directory.empty());
  }
  EXPECT_FALSE(read_knobs(cache_is<3>).no_cache);
  EXPECT_EQ(read_knobs(cache_is<4>).cache_directory, "./off");
}

}  // namespace
}  // namespace lowtide
