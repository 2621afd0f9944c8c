#include <gtest/gtest.h>

#include <string_view>

#include "session/settings_of.h"

namespace lowtide::engine {
namespace {

const char* all_set(const char* name) {
  const std::string_view text = name;
  if (text == "LOWTIDE_DEBUG") return "3,fold-constants,inline-calls";
  if (text == "LOWTIDE_DUMP") return "stages";
  if (text == "LOWTIDE_DISABLE") return "tables,,no-such-pass,fold-constants";
  if (text == "LOWTIDE_CHECK" || text == "LOWTIDE_POISON") return "1";
  if (text == "LOWTIDE_THREADS") return "3";
  return nullptr;
}

TEST(Environment, IsReadIntoSettings) {
  const Settings settings = settings_of(options_from_environment(all_set));
  EXPECT_EQ(settings.debug, 3);
  EXPECT_EQ(settings.debug_filter, (std::vector<std::string>{"fold-constants", "inline-calls"}));
  EXPECT_EQ(settings.dump_directory, "stages");
  EXPECT_EQ(settings.choices.disabled, (std::vector<std::string>{"tables", "fold-constants"}));
  EXPECT_TRUE(settings.choices.check);
  EXPECT_TRUE(settings.poison);
  EXPECT_EQ(settings.threads, 3);
}

TEST(Environment, UnsetMeansOff) {
  const Settings settings = settings_of(options_from_environment([](const char*) -> const char* { return nullptr; }));
  EXPECT_EQ(settings.debug, 0);
  EXPECT_EQ(settings.choices, Choices());
  EXPECT_TRUE(settings.dump_directory.empty());
  EXPECT_TRUE(settings.cache_directory.empty());
  EXPECT_FALSE(settings.poison);
  EXPECT_EQ(settings.threads, 0);
}

template <int kValue>
const char* cache_is(const char* name) {
  constexpr const char* kValues[] = {"off", "", "0", "offs", "./off"};
  const std::string_view text = name;
  if (text == "HOME") return "/home/somebody";
  return text == "LOWTIDE_CACHE" ? kValues[kValue] : nullptr;
}

TEST(Environment, CacheCanBeOff) {
  for (const auto get : {cache_is<0>, cache_is<1>, cache_is<2>}) {
    EXPECT_EQ(options_from_environment(get).cache_directory, "");
  }
  EXPECT_EQ(options_from_environment(cache_is<3>).cache_directory, "offs");
  EXPECT_EQ(options_from_environment(cache_is<4>).cache_directory, "./off");
}

const char* user_has(const char* name) {
  const std::string_view text = name;
  if (text == "XDG_CACHE_HOME") return "/cache";
  return text == "HOME" ? "/home/somebody" : nullptr;
}
const char* user_has_relative(const char* name) {
  return std::string_view(name) == "XDG_CACHE_HOME" ? "cache" : user_has(name);
}

TEST(Environment, TheUsersCacheMustBeAbsolute) {
  EXPECT_EQ(options_from_environment(user_has).cache_directory, "/cache/lowtide");
  EXPECT_EQ(options_from_environment(user_has_relative).cache_directory, "/home/somebody/.cache/lowtide");
}

TEST(Choices, TextsAreEqualForEqualOnesAlone) {
  const Choices none, one{.disabled = {"a,b"}}, two{.disabled = {"a", "b"}}, avx2{.isa = "avx2"}, check{.check = true};
  const std::vector<Choices> all = {none, one, two, avx2, check};
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) EXPECT_EQ(to_text(all[i]) == to_text(all[j]), i == j) << i << " " << j;
  }
}

}  // namespace
}  // namespace lowtide::engine
