// Which values run a few rows at a time together, and which rows of each correspond.
#include "passes/windows/row_cluster.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "read_module.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

/// x turned round by one row in each direction: but for the first and the last row, a row of the product reads the rows
/// before and after its own.
TEST(RowCluster, FollowsTheLargePartsOfRolls) {
  const auto module = read(R"(HloModule m
ENTRY main {
  p = f32[64,16] parameter(0)
  x = f32[64,16] sine(p)
  low = f32[63,16] slice(x), slice={[1:64], [0:16]}
  first = f32[1,16] slice(x), slice={[0:1], [0:16]}
  next = f32[64,16] concatenate(low, first), dimensions={0}
  high = f32[63,16] slice(x), slice={[0:63], [0:16]}
  last = f32[1,16] slice(x), slice={[63:64], [0:16]}
  before = f32[64,16] concatenate(last, high), dimensions={0}
  y = f32[64,16] multiply(next, before)
  ROOT r = (f32[64,16], f32[64,16]) tuple(x, y)
})");
  const ValueGraph graph(*module->entry, cpu_target());
  const Instruction &x = module->entry->root->operand(0), &y = module->entry->root->operand(1);
  const GraphLeaf made = array_behind(graph, x);
  const RowCluster cluster = grow_rows(graph, decide_values(graph, {}), array_behind(graph, y), 0);
  ASSERT_TRUE(cluster.is_member(made.place));
  EXPECT_EQ(std::abs(cluster.members.at(made.place).at), 1);
  EXPECT_EQ(cluster.members.at(made.place).span.from, -1);
  EXPECT_EQ(cluster.members.at(made.place).span.to, 1);
  EXPECT_EQ(cluster.first, 1);
  EXPECT_EQ(cluster.last, 63);
}

}  // namespace
}  // namespace lowtide::engine
