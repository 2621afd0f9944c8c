#pragma once
/// A value of a test's program streamed in tiles of several sizes, compared with the whole.

#include <gtest/gtest.h>

#include <initializer_list>

#include "passes/compare_runs.h"
#include "passes/spoil.h"
#include "passes/stream/stream.h"
#include "target/cpu.h"

namespace lowtide::engine {

/// `members` values are streamed, where it is stated, with the same bits; spoilt ones must differ.
inline void expect_tiles_are_the_whole(const Module& whole, const StreamDecision& decision,
                                       std::initializer_list<int64_t> tiles, int64_t members = 0) {
  for (const int64_t tile : tiles) {
    const auto tiled = whole.clone();
    StreamDecision with_tile = decision;
    with_tile.tile = tile;
    const auto streamed = stream(*tiled, cpu_target(), with_tile);
    ASSERT_TRUE(streamed.ok()) << streamed.status().message();
    EXPECT_TRUE(members == 0 || streamed->count == members) << streamed->count;
    const auto difference = difference_of_runs(whole, *tiled, Numerics::kExact, 1);
    ASSERT_TRUE(difference.ok()) << difference.status().message();
    EXPECT_EQ(*difference, "") << tile;
    ASSERT_TRUE(spoil(*tiled).ok());
    const auto spoilt = difference_of_runs(whole, *tiled, Numerics::kExact, 1);
    ASSERT_TRUE(spoilt.ok());
    EXPECT_NE(*spoilt, "") << "the control";
  }
}

}  // namespace lowtide::engine
