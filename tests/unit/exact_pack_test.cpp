#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "plan/check.h"
#include "plan/pack.h"
#include "plan/search.h"

namespace lowtide::engine {
namespace {

Problem random_problem(unsigned seed, int buffers, Step steps, int sizes, bool aligned) {
  std::mt19937 random(seed);
  Problem problem;
  for (int b = 0; b < buffers; ++b) {
    PackBuffer buffer{static_cast<Bytes>(random() % static_cast<unsigned>(sizes) + 1), {}};
    const Step born = static_cast<Step>(random() % static_cast<unsigned>(steps));
    const Step dies = born + 1 + static_cast<Step>(random() % 4);
    buffer.alive.push_back({born, dies});
    if (random() % 3 == 0) buffer.alive.push_back({dies + 1, dies + 2});
    if (aligned) buffer.alignment = Bytes{1} << (random() % 3);
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

std::vector<int32_t> all_of(const Problem& problem) {
  std::vector<int32_t> all(problem.buffers.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

SearchOutcome search(const Problem& problem, Bytes capacity, Placement& placement) {
  SearchLimits limits{capacity, 1'000'000};
  placement.height = capacity;
  return search_placement(problem, all_of(problem), limits, placement.offsets);
}

/// By trying, in every sequence, the lowest offset that is free: some sequence gives the lowest arena there is.
Bytes lowest_by_force(const Problem& problem) {
  std::vector<int32_t> sequence = all_of(problem);
  Bytes lowest = INT64_MAX;
  do {
    Placement placement;
    placement.offsets.assign(problem.buffers.size(), -1);
    placement.height = INT64_MAX;
    Bytes height = 0;
    Problem placed;  // grows with the sequence, so that the checker can say what is free
    for (const int32_t b : sequence) {
      placed.buffers.push_back(problem.buffers[b]);
      Placement partial;
      partial.height = INT64_MAX;
      for (size_t i = 0; i + 1 < placed.buffers.size(); ++i) {
        partial.offsets.push_back(placement.offsets[sequence[i]]);
      }
      partial.offsets.push_back(0);
      while (!check_placement(placed, partial).empty()) ++partial.offsets.back();
      placement.offsets[b] = partial.offsets.back();
      height = std::max(height, partial.offsets.back() + placed.buffers.back().size);
    }
    lowest = std::min(lowest, height);
  } while (std::next_permutation(sequence.begin(), sequence.end()));
  return lowest;
}

TEST(Search, FindsWhatForceFindsAndProvesThatNothingIsLower) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Problem problem = random_problem(seed, 6, 6, 5, seed % 2 == 1);
    const Bytes lowest = lowest_by_force(problem);
    Placement placement;
    ASSERT_EQ(search(problem, lowest, placement), SearchOutcome::kFound) << "seed " << seed;
    EXPECT_EQ(check_placement(problem, placement), "") << "seed " << seed;
    EXPECT_EQ(search(problem, lowest - 1, placement), SearchOutcome::kImpossible) << "seed " << seed;
    EXPECT_EQ(pack(problem).height, lowest) << "seed " << seed;
  }
}

/// A packing of the full capacity at every step, cut at random from one rectangle: the load is reached by one packing
/// at least.
Problem cut_rectangle(unsigned seed, Bytes height, Step steps, int cuts) {
  std::mt19937 random(seed);
  struct Piece {
    Bytes size;
    Lifetime life;
  };
  std::vector<Piece> pieces = {{height, {0, steps}}};
  for (int c = 0; c < cuts; ++c) {
    Piece& piece = pieces[random() % pieces.size()];
    Piece other = piece;
    if (random() % 2 == 0 && piece.size > 1) {
      piece.size = 1 + static_cast<Bytes>(random() % static_cast<unsigned>(piece.size - 1));
      other.size -= piece.size;
    } else if (piece.life.dies - piece.life.born > 1) {
      const auto length = static_cast<unsigned>(piece.life.dies - piece.life.born - 1);
      piece.life.dies = other.life.born = piece.life.born + 1 + static_cast<Step>(random() % length);
    } else {
      continue;
    }
    pieces.push_back(other);
  }
  std::shuffle(pieces.begin(), pieces.end(), random);
  Problem problem;
  for (const Piece& piece : pieces) problem.buffers.push_back({piece.size, {piece.life}});
  return problem;
}

TEST(Pack, ReachesTheLoadWhereOnlyPackingsWithoutAnyGapDo) {
  int greedy_reaches = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Problem problem = cut_rectangle(seed, 1000, 100, 40);
    ASSERT_EQ(load_of(problem), 1000);
    const Placement placement = pack(problem);
    EXPECT_EQ(check_placement(problem, placement), "");
    EXPECT_EQ(placement.height, 1000) << "seed " << seed;
    greedy_reaches += pack_like_xla(problem).height == 1000 ? 1 : 0;
  }
  EXPECT_LT(greedy_reaches, 10) << "these problems are too easy to tell search from greed";
}

TEST(Pack, ComponentsArePackedApart) {
  // Two hard groups one after the other: neither's trouble is the other's.
  Problem problem = cut_rectangle(1, 1000, 100, 40);
  for (PackBuffer& buffer : cut_rectangle(2, 900, 100, 40).buffers) {
    for (Lifetime& life : buffer.alive) life = {life.born + 100, life.dies + 100};
    problem.buffers.push_back(std::move(buffer));
  }
  const Placement placement = pack(problem);
  EXPECT_EQ(check_placement(problem, placement), "");
  EXPECT_EQ(placement.height, 1000);
}

TEST(Pack, GivesTheSameEachTimeAndKeepsToItsBudget) {
  const Problem problem = random_problem(5, 200, 60, 1000, false);
  const Placement first = pack(problem), second = pack(problem);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(check_placement(problem, pack(problem, {0, 1})), "");
  EXPECT_LE(first.height, pack(problem, {0, 1}).height);
}

TEST(Pack, StopsAtTheCapacity) {
  const Problem problem = cut_rectangle(3, 1000, 100, 40);
  const Placement placement = pack(problem, {2000, 100'000'000});
  EXPECT_LE(placement.height, 2000);
  EXPECT_EQ(check_placement(problem, placement), "");
}

TEST(Bound, CountsWhatAlignmentWastesButNotBehindTheLast) {
  const Problem problem{{{100, {{0, 2}}}, {100, {{0, 2}}}}, 64};
  EXPECT_EQ(load_of(problem), 200);
  EXPECT_EQ(packing_bound(problem), 200);
  EXPECT_EQ(pack(problem).height, 228);
  EXPECT_EQ(packing_bound({{{65, {{0, 2}}}, {65, {{0, 2}}}}, 64}), 193);
  EXPECT_EQ(pack({{{65, {{0, 2}}}, {65, {{0, 2}}}}, 64}).height, 193);
}

TEST(Check, FindsAMisalignedBuffer) {
  const Problem problem{{{100, {{0, 4}}, 16}}, 8};
  EXPECT_EQ(check_placement(problem, {{16}, 200}), "");
  EXPECT_EQ(check_placement(problem, {{8}, 200}), "buffer 0 is misaligned");
}

}  // namespace
}  // namespace lowtide::engine
