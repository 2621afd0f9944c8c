#include "base/index_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace lowtide::engine {
namespace {

/// The entries in order, forwards, and the keys backwards.
template <class Map>
std::string entries(const Map& map) {
  std::string text;
  for (const auto& [key, value] : map) text += std::to_string(key) + ":" + value + " ";
  for (auto entry = map.rbegin(); entry != map.rend(); ++entry) text += std::to_string(entry->first) + " ";
  return text;
}

TEST(IndexMap, IsAnOrderedMap) {
  std::mt19937 random(1);
  IndexMap<std::string> map;
  std::map<int32_t, std::string> expected;
  for (int step = 0; step < 5000; ++step) {
    const auto key = static_cast<int32_t>(random() % 100);
    switch (random() % 4) {
      case 0:
        map.erase(key);
        expected.erase(key);
        break;
      case 1: {
        const auto entry = map.lower_bound(key);
        const auto same = expected.lower_bound(key);
        ASSERT_EQ(entry == map.end(), same == expected.end());
        if (same != expected.end()) {
          ASSERT_EQ(entry->first, same->first);
        }
        break;
      }
      default: {
        const std::string value = std::to_string(step);
        ASSERT_EQ(map.emplace(key, value), expected.emplace(key, value).second);
      }
    }
    ASSERT_EQ(map.size(), expected.size());
    ASSERT_EQ(map.contains(key), expected.contains(key));
    ASSERT_EQ(map.find(key) == map.end(), !expected.contains(key));
    if (step % 50 == 0) {
      ASSERT_EQ(entries(map), entries(expected));
    }
  }
  EXPECT_FALSE(map.empty());
}

TEST(IndexMap, ErasesWhileItIsWalked) {
  IndexMap<std::string> map;
  for (const int32_t key : {7, 3, 900, 0, 12}) map.emplace(key, "v");
  const IndexMap<std::string> copy = map;
  EXPECT_EQ(erase_if(map, [](const auto& entry) { return entry.first % 3 == 0; }), 4U);
  EXPECT_EQ(entries(map), "7:v 7 ");
  EXPECT_EQ(entries(copy), "0:v 3:v 7:v 12:v 900:v 900 12 7 3 0 ");
  EXPECT_EQ(map.at(7), "v");
}

TEST(IndexMap, IsEmptyAtFirst) {
  IndexMap<int> map;
  EXPECT_TRUE(map.empty());
  EXPECT_TRUE(map.begin() == map.end());
  EXPECT_TRUE(map.lower_bound(5) == map.end());
  EXPECT_FALSE(map.contains(0));
  map.erase(3);
}

}  // namespace
}  // namespace lowtide::engine
