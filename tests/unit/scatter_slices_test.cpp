// Scatters in slices along the dimension that their indices name.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "compile/check_fit.h"
#include "compile/frontier.h"
#include "ops/updates_taken.h"
#include "passes/compare_runs.h"
#include "passes/stream/stream.h"
#include "read_module.h"
#include "streamed_in_tiles.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

constexpr const char* kAdd = "add { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b) }\n";

/// r = 2 s of a scatter s = f32[12,4] along dimension 0, with these indices.
std::string scatter_with(const std::string& indices, const std::string& updates, const std::string& attributes) {
  return fmt::format(R"(HloModule m
{}ENTRY main {{
  t = f32[12,4] parameter(0)
  u = {} parameter(1)
  i = {}
  s = f32[12,4] scatter(t, i, u), {}, to_apply=add
  ROOT r = f32[12,4] add(s, s)
}}
)",
                     kAdd, updates, indices, attributes);
}

std::vector<std::string> forms() {
  const std::string rows = "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, ";
  return {
      // twice the same row, the last one, and rows outside on both sides
      scatter_with("s32[7] constant({3, 11, 3, -1, 12, 0, -2147483648})", "f32[7,4]", rows + "index_vector_dim=1"),
      scatter_with("u8[7] constant({3, 11, 3, 255, 12, 0, 5})", "f32[7,4]", rows + "index_vector_dim=1"),
      scatter_with("s64[7,1] constant({ {3}, {11}, {3}, {-9223372036854775807}, {12}, {0}, {5} })", "f32[7,4]",
                   rows + "index_vector_dim=1"),
      scatter_with("s32[4] constant({1, 3, 7, 11})", "f32[4,4]",
                   rows + "index_vector_dim=1, indices_are_sorted=true, unique_indices=true"),
      // the row is the second entry of an index
      scatter_with("s32[2,3] constant({ {3, 0, 1}, {11, 5, -1} })", "f32[3]",
                   "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, "
                   "index_vector_dim=0"),
      // updates have the dimension, with one element
      scatter_with("s32[3] constant({3, 11, 12})", "f32[3,1,4]",
                   "update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, "
                   "index_vector_dim=1"),
  };
}

Result<PassResult> in_slices(Module& module, int64_t tile) {
  return stream(module, cpu_target(), {"main", "s", 0, tile});
}

TEST(ScatterSlices, AreTheWhole) {
  for (const std::string& form : forms()) {
    SCOPED_TRACE(form);
    expect_tiles_are_the_whole(*read(form), {"main", "s", 0}, {1, 4, 5, 11});
  }
}

TEST(ScatterSlices, AreComputedRight) {
  for (const std::string& form : forms()) {
    const auto module = read(form);
    Decisions decisions = without_streams();
    decisions.emplace_back(StreamDecision{"main", "s", 0, 4});
    const auto plan = compile_plan(*module, cpu_target(), decisions);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const auto checked = check_fit(*module, *plan, cpu_backend());
    ASSERT_TRUE(checked.ok()) << checked.status().message() << form;
  }
}

TEST(ScatterSlices, AreRefusedWhereIndicesCantCountThem) {
  const std::string rows = "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, ";
  const auto narrow = read(R"(HloModule m
)" + std::string(kAdd) + R"(ENTRY main {
  t = f32[129,4] parameter(0)
  u = f32[2,4] parameter(1)
  i = s8[2] constant({3, 11})
  s = f32[129,4] scatter(t, i, u), )" +
                           rows + R"(index_vector_dim=1, to_apply=add
  ROOT r = f32[129,4] add(s, s)
}
)");
  const auto two_rows = read(scatter_with("s32[2] constant({3, 11})", "f32[2,2,4]",
                                          "update_window_dims={1,2}, inserted_window_dims={}, "
                                          "scatter_dims_to_operand_dims={0}, index_vector_dim=1"));
  EXPECT_FALSE(in_slices(*narrow, 4).ok()) << "row 128 is no s8";
  EXPECT_FALSE(in_slices(*two_rows, 4).ok()) << "an update may lie in two slices";
  EXPECT_TRUE(in_slices(*read(forms()[0]), 4).ok()) << "the control";
}

/// A loop that adds up scatters of the same rows, sliced as a whole.
TEST(ScatterSlices, StandInLoops) {
  const auto whole = read(R"(HloModule m
)" + std::string(kAdd) + R"(test {
  p = (s32[], f32[12,4], s32[3,5], f32[5,4]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  three = s32[] constant(3)
  ROOT c = pred[] compare(n, three), direction=LT }
body {
  p = (s32[], f32[12,4], s32[3,5], f32[5,4]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  t = f32[12,4] get-tuple-element(p), index=1
  all = s32[3,5] get-tuple-element(p), index=2
  u = f32[5,4] get-tuple-element(p), index=3
  one = s32[] constant(1)
  none = s32[] constant(0)
  some = s32[1,5] dynamic-slice(all, n, none), dynamic_slice_sizes={1,5}
  i = s32[5] reshape(some)
  in = f32[12,4] scatter(t, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  next = f32[12,4] cosine(in)
  m = s32[] add(n, one)
  ROOT q = (s32[], f32[12,4], s32[3,5], f32[5,4]) tuple(m, next, all, u) }
ENTRY main {
  t = f32[12,4] parameter(0)
  u = f32[5,4] parameter(1)
  i = s32[3,5] constant({ {3, 11, 3, -1, 12}, {0, 1, 2, 11, 4}, {5, 6, 7, 8, 9} })
  zero = s32[] constant(0)
  s = f32[12,4] exponential(t)
  start = (s32[], f32[12,4], s32[3,5], f32[5,4]) tuple(zero, s, i, u)
  w = (s32[], f32[12,4], s32[3,5], f32[5,4]) while(start), condition=test, body=body
  last = f32[12,4] get-tuple-element(w), index=1
  ROOT r = f32[12,4] sine(last)
}
)");
  for (const int64_t tile : {1, 5}) {
    const auto tiled = whole->clone();
    const auto streamed = in_slices(*tiled, tile);
    ASSERT_TRUE(streamed.ok()) << streamed.status().message();
    EXPECT_GE(streamed->count, 3) << "the loop is not among them";
    const auto difference = difference_of_runs(*whole, *tiled, Numerics::kExact, 1);
    ASSERT_TRUE(difference.ok()) << difference.status().message();
    EXPECT_EQ(*difference, "") << tile;
  }
}

/// The gradient of a table that is read before: with a donated table nothing of its size is stored.
TEST(ScatterSlices, UpdateADonatedTable) {
  const auto table = [](bool donated) {
    return read(fmt::format(R"(HloModule m{}
{}ENTRY main {{
  t = f32[65536,64] parameter(0)
  i = s32[512] parameter(1)
  rows = f32[512,64] gather(t, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,64}}
  u = f32[512,64] sine(rows)
  zero = f32[] constant(0)
  zeros = f32[65536,64] broadcast(zero), dimensions={{}}
  g = f32[65536,64] scatter(zeros, i, u), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add
  ROOT next = f32[65536,64] subtract(t, g)
}}
)",
                            donated ? ", input_output_alias={ {}: (0, {}, may-alias) }" : "", kAdd));
  };
  const auto temp_of = [](const Module& module) {
    const auto planner = Planner::make(module, cpu_target());
    EXPECT_TRUE(planner.ok());
    const auto frontier = find_frontier(*planner);
    EXPECT_TRUE(frontier.ok());
    return frontier->tightest().peak_bytes;
  };
  constexpr int64_t kTable = int64_t{65536} * 64 * 4;
  EXPECT_LT(temp_of(*table(true)), kTable + kTable / 8);
  EXPECT_GT(temp_of(*table(false)), 2 * kTable) << "the control: two tables are there";
}

TEST(UpdatesTaken, AreANote) {
  const auto module = read(forms()[0]);
  Instruction& scatter = *module->entry->root->operands[0];
  EXPECT_EQ(updates_taken(scatter), 1);
  take_part_of_updates(scatter, 0.25);
  EXPECT_EQ(updates_taken(scatter), 0.25);
  take_part_of_updates(scatter, 0.5);
  EXPECT_EQ(updates_taken(scatter), 0.125);
  EXPECT_EQ(scatter.frontend_attributes, "{lowtide_updates_taken=\"0.125\"}");
  scatter.frontend_attributes = "{a=\"b\"}";
  take_part_of_updates(scatter, 0.5);
  EXPECT_EQ(scatter.frontend_attributes, "{lowtide_updates_taken=\"0.5\",a=\"b\"}");
  for (const char* wrong : {"{lowtide_updates_taken=\"2\"}", "{lowtide_updates_taken=\"none\"}",
                            "{lowtide_updates_taken=\"-1\"}", "{lowtide_updates_taken=\""}) {
    scatter.frontend_attributes = wrong;
    EXPECT_EQ(updates_taken(scatter), 1) << wrong;
  }
}

}  // namespace
}  // namespace lowtide::engine
