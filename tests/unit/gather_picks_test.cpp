// Gathers whose operand is made slice by slice along the dimension that their indices name.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "compile/frontier.h"
#include "passes/compare_runs.h"
#include "passes/stream/stream.h"
#include "read_module.h"
#include "streamed_in_tiles.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

/// What is picked of s = exp(x) f32[12,4], and a sum along dimension 0, so that both are folded.
std::string pick_with(const std::string& indices, const std::string& picked, const std::string& attributes) {
  return fmt::format(R"(HloModule m
max {{ a.0 = f32[] parameter(0)
  b.0 = f32[] parameter(1)
  ROOT c.0 = f32[] maximum(a.0, b.0) }}
ENTRY main {{
  x = f32[12,4] parameter(0)
  low = f32[] constant(-inf)
  i = {}
  s = f32[12,4] exponential(x)
  p = {} gather(s, i), {}
  g = f32[4] reduce(s, low), dimensions={{0}}, to_apply=max
  ROOT r = ({}, f32[4]) tuple(p, g)
}}
)",
                     indices, picked, attributes, picked);
}

std::vector<std::string> forms() {
  const std::string row = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, ";
  return {
      // the first and the last row, twice the same, and rows outside on both sides
      pick_with("s32[7] constant({3, 11, 3, -1, 12, 0, -2147483648})", "f32[7,4]",
                row + "index_vector_dim=1, slice_sizes={1,4}"),
      pick_with("u8[5] constant({3, 11, 255, 12, 0})", "f32[5,4]", row + "index_vector_dim=1, slice_sizes={1,4}"),
      pick_with("s64[5,1] constant({ {3}, {11}, {9223372036854775807}, {-9223372036854775807}, {0} })", "f32[5,2]",
                row + "index_vector_dim=1, slice_sizes={1,2}"),
      // the row is the second entry of an index
      pick_with("s32[2,3] constant({ {3, 0, 1}, {11, 5, -1} })", "f32[3]",
                "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=0, "
                "slice_sizes={1,1}"),
      // one row per column, which both have
      pick_with("s32[4,1] constant({ {7}, {0}, {11}, {4} })", "f32[4]",
                "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, operand_batching_dims={1}, "
                "start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}"),
      // the result has the dimension, with one element
      pick_with("s32[3] constant({3, 11, 12})", "f32[3,1,4]",
                "offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, "
                "slice_sizes={1,4}"),
  };
}

Result<PassResult> in_slices(Module& module, int64_t tile) {
  return stream(module, cpu_target(), {"main", "s", 0, tile});
}

TEST(GatherPicks, AreTheWhole) {
  // Streamed are the exponential, the gather and the sum.
  for (const std::string& form : forms()) {
    SCOPED_TRACE(form);
    expect_tiles_are_the_whole(*read(form), {"main", "s", 0}, {1, 4, 5, 11}, 3);
  }
}

/// Along its own dimensions a gather reads its indices slice by slice, and its operand whole.
TEST(GatherPicks, AreAllOfTheOperandAlongTheResult) {
  for (const std::string& form : forms()) {
    const auto whole = read(form);
    const auto tiled = whole->clone();
    const auto streamed = stream(*tiled, cpu_target(), {"main", "p", 0, 2});
    if (!streamed.ok()) continue;  // what has one row only
    const auto difference = difference_of_runs(*whole, *tiled, Numerics::kExact, 1);
    ASSERT_TRUE(difference.ok()) << difference.status().message();
    EXPECT_EQ(*difference, "") << form;
  }
}

TEST(GatherPicks, AreNoneOfRowsTogether) {
  const std::string one = "offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, ";
  const auto two_rows = read(pick_with("s32[3] constant({3, 11, 12})", "f32[3,2,4]", one + "slice_sizes={2,4}"));
  const auto streamed = in_slices(*two_rows, 4);
  ASSERT_TRUE(streamed.ok());
  EXPECT_EQ(streamed->count, 2) << "two rows may lie in two slices";
}

/// A loss whose labels are picked from logits that are summed along rows and columns, as for pairs of images and texts.
TEST(GatherPicks, LetLossesOfPairsStream) {
  const auto module = read(R"(HloModule m
add { a.1 = f32[] parameter(0)
  b.1 = f32[] parameter(1)
  ROOT c.1 = f32[] add(a.1, b.1) }
ENTRY main {
  a = f32[2048,64] parameter(0)
  b = f32[2048,64] parameter(1)
  ids = s32[2048,1] parameter(2)
  zero = f32[] constant(0)
  logits = f32[2048,2048] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  turned = f32[2048,2048] transpose(logits), dimensions={1,0}
  e = f32[2048,2048] exponential(logits)
  rows = f32[2048] reduce(e, zero), dimensions={1}, to_apply=add
  et = f32[2048,2048] exponential(turned)
  columns = f32[2048] reduce(et, zero), dimensions={1}, to_apply=add
  p = f32[2048] gather(logits, ids), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}
  q = f32[2048] gather(turned, ids), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}
  sums = f32[2048] add(rows, columns)
  both = f32[2048] add(p, q)
  ROOT loss = f32[2048] subtract(sums, both)
})");
  const auto planner = Planner::make(*module, cpu_target());
  ASSERT_TRUE(planner.ok());
  const auto frontier = find_frontier(*planner);
  ASSERT_TRUE(frontier.ok());
  constexpr int64_t kLogits = int64_t{2048} * 2048 * 4;
  EXPECT_LT(frontier->tightest().temp_bytes, kLogits / 8);
  const auto plain = planner->measure(without_streams(), Checked::kYes);
  ASSERT_TRUE(plain.ok());
  EXPECT_GE(plain->temp_bytes, kLogits) << "the control: without streams they are stored";
}

}  // namespace
}  // namespace lowtide::engine
