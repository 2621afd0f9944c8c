#include "plan/pack.h"

#include <gtest/gtest.h>

#include <random>

#include "plan/check.h"

namespace lowtide::engine {
namespace {

Problem random_problem(unsigned seed, int buffers, Step steps) {
  std::mt19937 random(seed);
  Problem problem;
  problem.alignment = 64;
  for (int b = 0; b < buffers; ++b) {
    PackBuffer buffer{static_cast<Bytes>(random() % 1000 + 1), {}};
    Step at = static_cast<Step>(random() % static_cast<unsigned>(steps));
    for (unsigned lives = random() % 3 + 1; lives > 0 && at < steps; --lives) {
      const Step dies = at + 1 + static_cast<Step>(random() % 9);
      buffer.alive.push_back({at, dies});
      at = dies + 1 + static_cast<Step>(random() % 9);
    }
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

class Packs : public testing::TestWithParam<PackOrder> {};

TEST_P(Packs, WithoutOverlapNotBelowTheLoad) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Problem problem = random_problem(seed, 200, 300);
    const Placement placement = pack_in_order(problem, GetParam());
    EXPECT_EQ(check_placement(problem, placement), "") << "seed " << seed;
    EXPECT_GE(placement.height, load_of(problem));
  }
}

TEST_P(Packs, AlikeWhetherBuffersAreFewOrMany) {
  // Beyond a few thousand buffers another way of finding neighbours is used; empty buffers count, but take no place.
  Problem few = random_problem(7, 3000, 20000);
  for (size_t b = 0; b < few.buffers.size(); b += 17) {
    std::vector<Lifetime>& alive = few.buffers[b].alive;
    alive = {{alive.front().born, alive.front().born + 5000}};
  }
  Problem many = few;
  many.buffers.resize(9000);
  const Placement placement = pack_in_order(few, GetParam());
  Placement other = pack_in_order(many, GetParam());
  EXPECT_EQ(check_placement(few, placement), "");
  EXPECT_EQ(check_placement(many, other), "");
  other.offsets.resize(few.buffers.size());
  EXPECT_EQ(placement.offsets, other.offsets);
  EXPECT_EQ(placement.height, other.height);
}

INSTANTIATE_TEST_SUITE_P(Orders, Packs,
                         testing::Values(PackOrder::kBySize, PackOrder::kByDuration, PackOrder::kByEvents,
                                         PackOrder::kByArea, PackOrder::kByBirth, PackOrder::kByLoad));

TEST(Pack, FillsTheGapOfABufferWithTwoLives) {
  const Problem problem{{{100, {{0, 2}, {5, 7}}}, {100, {{2, 5}}}}, 1};
  EXPECT_EQ(pack(problem).height, 100);
}

TEST(Pack, TriesSeveralOrdersWhateverTheirWork) {
  const auto height_of = [](const Problem& problem, size_t orders) {
    return pack(problem, {.work = 1, .least_orders = orders}).height;
  };
  int lower = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Problem problem = random_problem(seed, 200, 300);
    const Bytes best = std::min({pack_in_order(problem, PackOrder::kByEvents).height,
                                 pack_in_order(problem, PackOrder::kBySize).height,
                                 pack_in_order(problem, PackOrder::kByArea).height});
    EXPECT_LE(height_of(problem, 3), best) << "seed " << seed;
    lower += height_of(problem, 3) < height_of(problem, 1) ? 1 : 0;
  }
  EXPECT_GT(lower, 0);
}

TEST(Pack, NothingNeedsNothing) {
  EXPECT_EQ(pack({}).height, 0);
  EXPECT_EQ(pack({{{0, {{0, 3}}}, {8, {}}}, 64}).height, 0);
}

TEST(Check, FindsOverlap) {
  const Problem problem{{{100, {{0, 4}}}, {100, {{3, 6}}}}, 1};
  EXPECT_EQ(check_placement(problem, {{0, 100}, 200}), "");
  EXPECT_EQ(check_placement(problem, {{0, 99}, 200}), "buffer 1 overlaps buffer 0 at step 3");
  EXPECT_EQ(check_placement(problem, {{50, 0}, 200}), "buffer 1 overlaps buffer 0 at step 3");
  EXPECT_EQ(check_placement(problem, {{0, 0}, 200}), "buffer 1 overlaps buffer 0 at step 3");
}

TEST(Check, FindsWhatLiesOutsideOrAside) {
  const Problem problem{{{100, {{0, 4}}}}, 64};
  EXPECT_EQ(check_placement(problem, {{32}, 200}), "buffer 0 is misaligned");
  EXPECT_EQ(check_placement(problem, {{128}, 200}), "buffer 0 ends beyond the arena");
  EXPECT_EQ(check_placement(problem, {{-64}, 200}), "buffer 0 has a negative offset");
  EXPECT_EQ(check_placement(problem, {{}, 200}), "as many offsets as buffers are expected");
}

TEST(Load, CountsDeathsBeforeBirths) {
  EXPECT_EQ(load_of({{{100, {{0, 4}}}, {50, {{4, 6}}}, {25, {{3, 5}}}}, 1}), 125);
}

}  // namespace
}  // namespace lowtide::engine
