#include "plan/first_come.h"

#include <gtest/gtest.h>

#include <random>

#include "plan/check.h"
#include "plan/greedy.h"

namespace lowtide::engine {
namespace {

TEST(FirstCome, GoesAboveTooSmallAHole) {
  // The first buffer is gone when the third, a little larger, comes; the second is still above it.
  const Problem problem{{{100, {{0, 2}}}, {10, {{1, 4}}}, {110, {{3, 5}}}}, 1};
  EXPECT_EQ(pack_first_come(problem).height, 220);
  EXPECT_EQ(pack_like_xla(problem).height, 120);
}

TEST(FirstCome, TakesTheSmallestHoleAndOfThoseThatComeTogetherTheFirstToGo) {
  const Problem problem{{{30, {{0, 9}}}, {20, {{0, 2}}}, {10, {{1, 9}}}, {20, {{3, 9}}}}, 1};
  EXPECT_EQ(pack_first_come(problem).offsets, (std::vector<ArenaOffset>{20, 0, 50, 0}));
}

TEST(FirstCome, KeepsTheBytesBetweenTwoLives) {
  const Problem problem{{{100, {{0, 2}, {5, 7}}}, {100, {{2, 5}}}}, 1};
  EXPECT_EQ(pack_first_come(problem).height, 200);
}

TEST(FirstCome, LosesWhatAlignmentLeftBelowALiveBuffer) {
  // The hole ends where the first buffer did: the four bytes up to the second belong to that.
  EXPECT_EQ(pack_first_come({{{12, {{0, 2}}}, {16, {{1, 9}}}, {13, {{3, 9}}}}, 16}).offsets,
            (std::vector<ArenaOffset>{0, 16, 32}));
  // Where the second is gone too, they are part of one hole.
  EXPECT_EQ(pack_first_come({{{12, {{0, 2}}}, {16, {{1, 3}}}, {16, {{2, 9}}}, {30, {{5, 9}}}}, 16}).offsets,
            (std::vector<ArenaOffset>{0, 16, 32, 0}));
}

TEST(FirstCome, PlacesWithoutOverlap) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    Problem problem;
    problem.alignment = 64;
    for (int b = 0; b < 300; ++b) {
      const Step born = static_cast<Step>(random() % 400);
      problem.buffers.push_back(
          {static_cast<Bytes>(random() % 1000), {{born, born + static_cast<Step>(random() % 40)}}});
    }
    const Placement placement = pack_first_come(problem);
    EXPECT_EQ(check_placement(problem, placement), "");
    EXPECT_GE(placement.height, load_of(problem));
  }
}

}  // namespace
}  // namespace lowtide::engine
