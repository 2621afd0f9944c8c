#include "plan/packings.h"

#include <gtest/gtest.h>

#include "plan/check.h"

namespace lowtide::engine {
namespace {

Problem tight_problem() {
  Problem problem;
  const auto add = [&](Bytes size, Step born, Step dies) { problem.buffers.push_back({size, {{born, dies}}}); };
  add(2, 0, 2);
  add(1, 0, 4);
  add(1, 1, 3);
  add(2, 3, 5);
  add(3, 4, 6);
  add(1, 2, 6);
  return problem;
}

TEST(Packings, TakesWhatIsKnownWithoutASearch) {
  const Problem problem = tight_problem();
  const PackOptions options;
  // Not what a packer would find: taken all the same, because it holds.
  Placement high = pack(problem);
  for (ArenaOffset& offset : high.offsets) offset += 5;
  high.height += 5;
  const std::vector<KnownPlacement> known{{hash_of(problem, options), high}};
  const KnownPlacement taken = Packings(known).pack(problem, options);
  EXPECT_EQ(taken.placement.offsets, high.offsets);
  EXPECT_TRUE(taken.placement.searched);
  EXPECT_EQ(taken.problem, known[0].problem);
}

TEST(Packings, LeavesWhatDoesNotHold) {
  const Problem problem = tight_problem();
  const PackOptions options;
  for (const Placement& wrong :
       {Placement{std::vector<ArenaOffset>(problem.buffers.size(), 0), 100}, Placement{{0, 1}, 100}, Placement{}}) {
    const std::vector<KnownPlacement> known{{hash_of(problem, options), wrong}};
    EXPECT_EQ(Packings(known).pack(problem, options).placement.offsets, pack(problem).offsets);
  }
}

TEST(Packings, KnowsItsProblem) {
  const Problem problem = tight_problem();
  Problem other = problem;
  other.buffers[2].alive[0].dies += 1;
  EXPECT_NE(hash_of(problem, {}), hash_of(other, {}));
  EXPECT_NE(hash_of(problem, {}), hash_of(problem, {.work = 1}));
  Placement high = pack(problem);
  for (ArenaOffset& offset : high.offsets) offset += 5;
  high.height += 5;
  const std::vector<KnownPlacement> known{{hash_of(other, {}), high}};
  EXPECT_EQ(Packings(known).pack(problem, {}).placement.offsets, pack(problem).offsets);
}

}  // namespace
}  // namespace lowtide::engine
