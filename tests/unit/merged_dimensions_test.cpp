// Programs that merge the batch with positions need as little as those that don't.
#include <gtest/gtest.h>

#include "compile/frontier.h"
#include "read_module.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

/// Two layers, and the largest of all positions; `rows` are the extents that the layers compute with.
std::string layers(const std::string& rows, const std::string& contracted, const std::string& between = "") {
  return R"(HloModule m
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b) }
ENTRY main {
  x = f32[64,64,32] parameter(0)
  w = f32[32,256] parameter(1)
  v = f32[256,32] parameter(2)
  least = f32[] constant(-inf)
  rows = f32[)" +
         rows + ",32] reshape(x)\n  hidden = f32[" + rows + ",256] dot(rows, w), lhs_contracting_dims={" + contracted +
         "}, rhs_contracting_dims={0}\n  sines = f32[" + rows + ",256] sine(hidden)\n  last = f32[" + rows + ",256] " +
         (between.empty() ? "cosine(sines)" : between) + "\n  y = f32[" + rows +
         ",32] dot(last, v), lhs_contracting_dims={" + contracted + R"(}, rhs_contracting_dims={0}
  apart = f32[64,64,32] reshape(y)
  ROOT most = f32[64,32] reduce(apart, least), dimensions={1}, to_apply=max })";
}

int64_t tightest_temp(const std::string& text) {
  const auto planner = Planner::make(*read(text), cpu_target());
  EXPECT_TRUE(planner.ok());
  const auto frontier = find_frontier(*planner);
  EXPECT_TRUE(frontier.ok());
  return frontier->tightest().temp_bytes;
}

TEST(MergedDimensions, CostNothing) {
  const int64_t apart = tightest_temp(layers("64,64", "2"));
  EXPECT_LT(apart, 1 << 19);  // the hidden layer has 4 MiB
  EXPECT_EQ(tightest_temp(layers("4096", "1")), apart);
  // Of rows in the opposite order none has a batch and a position of its own.
  EXPECT_GT(tightest_temp(layers("4096", "1", "reverse(sines), dimensions={0}")), apart);
}

}  // namespace
}  // namespace lowtide::engine
