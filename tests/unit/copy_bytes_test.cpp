#include "base/copy_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lowtide::engine {
namespace {

/// Copies larger than the caches, at any address.
TEST(CopyBytes, CopiesLargeRanges) {
  constexpr size_t kBytes = (size_t{64} << 20) + 77;
  std::vector<std::byte> from(kBytes + 16), to(kBytes + 80);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
  ThreadPool pool(2);
  for (const size_t at : {0, 1, 48}) {
    std::ranges::fill(to, std::byte{0});
    copy_bytes(to.data() + at, from.data() + 3, kBytes, pool);
    EXPECT_TRUE(std::equal(from.begin() + 3, from.begin() + 3 + kBytes, to.begin() + static_cast<int64_t>(at))) << at;
    EXPECT_EQ(to[at + kBytes], std::byte{0});
    EXPECT_FALSE(std::equal(from.begin() + 2, from.begin() + 2 + kBytes, to.begin() + static_cast<int64_t>(at)))
        << "the control";
  }
  std::vector<std::byte> both = from;
  copy_bytes(both.data() + 5, both.data(), kBytes, pool);  // they overlap
  EXPECT_TRUE(std::equal(from.begin(), from.begin() + kBytes, both.begin() + 5));
}

}  // namespace
}  // namespace lowtide::engine
