#include "passes/stream/keep_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

std::unique_ptr<Module> with_entry(const std::string& entry) {
  const std::string text = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
most { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b) }
count { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b) }
ENTRY main {
)" + entry + "}\n";
  auto module = parse_hlo(std::make_shared<const Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.take();
}

FoldOrder order_of(const std::string& entry, size_t operand, int64_t d) {
  return fold_order(*with_entry(entry)->entry->root, operand, d, cpu_target());
}
bool keeps(const std::string& entry, size_t operand, int64_t d) {
  return order_of(entry, operand, d) == FoldOrder::kAny;
}

TEST(KeepOrder, FoldsThatAreTheSameInAnyOrder) {
  const std::string floats = "  x = f32[8,8] parameter(0)\n  z = f32[] constant(0)\n";
  EXPECT_TRUE(keeps(floats + "  ROOT r = f32[8] reduce(x, z), dimensions={1}, to_apply=most\n", 0, 1));
  EXPECT_FALSE(keeps(floats + "  ROOT r = f32[8] reduce(x, z), dimensions={1}, to_apply=add\n", 0, 1));
  EXPECT_TRUE(
      keeps("  x = s32[8,8] parameter(0)\n  z = s32[] constant(0)\n"
            "  ROOT r = s32[8] reduce(x, z), dimensions={1}, to_apply=count\n",
            0, 1));
  for (const auto& [type, kept] : {std::pair{"f32", false}, {"bf16", false}, {"s32", true}}) {
    EXPECT_EQ(keeps(fmt::format("  x = {0}[8,8] parameter(0)\n  ROOT r = {0}[8,8] dot(x, x), "
                                "lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n",
                                type),
                    0, 1),
              kept)
        << type;
  }
}

TEST(KeepOrder, FoldsThatGoOn) {
  const std::string floats = "  x = f32[8,8,1] parameter(0)\n  z = f32[] constant(0)\n";
  EXPECT_EQ(order_of(floats + "  ROOT r = f32[8] reduce(x, z), dimensions={1,2}, to_apply=add\n", 0, 1),
            FoldOrder::kContinued);
  EXPECT_EQ(order_of(floats + "  ROOT r = f32[1] reduce(x, z), dimensions={0,1}, to_apply=add\n", 0, 0),
            FoldOrder::kNone);
  const auto dot = [](int64_t rows) {
    return fmt::format(
        "  x = f32[{0},64,32] parameter(0)\n  y = f32[64,32,{0}] parameter(1)\n  ROOT s = f32[{0},{0}] "
        "dot(x, y), lhs_contracting_dims={{1,2}}, rhs_contracting_dims={{0,1}}\n",
        rows);
  };
  EXPECT_EQ(order_of(dot(64), 0, 1), FoldOrder::kContinued);
  EXPECT_EQ(order_of(dot(64), 1, 0), FoldOrder::kContinued);
  EXPECT_EQ(order_of(dot(64), 0, 2), FoldOrder::kNone);  // the inner one of two
  EXPECT_EQ(order_of(dot(2), 0, 1), FoldOrder::kNone);   // no library makes it
}

/// Updates [4,5] of rows: they follow each other along the first dimension most slowly.
std::string scatter(const char* unique) {
  return fmt::format(
      "  x = f32[9,3] parameter(0)\n  i = s32[4,5] parameter(1)\n  u = f32[4,5,3] parameter(2)\n"
      "  ROOT s = f32[9,3] scatter(x, i, u), update_window_dims={{2}}, inserted_window_dims={{0}}, "
      "scatter_dims_to_operand_dims={{0}}, index_vector_dim=2, unique_indices={}, to_apply=add\n",
      unique);
}

TEST(KeepOrder, ScattersTileAfterTile) {
  EXPECT_TRUE(keeps(scatter("false"), 2, 0));
  EXPECT_FALSE(keeps(scatter("false"), 2, 1));
  EXPECT_TRUE(keeps(scatter("true"), 2, 1));
}

TEST(KeepOrder, TilesThatAreMadeOtherwise) {
  const auto module = with_entry(R"(
  x = f32[64,128] parameter(0)
  y = f32[128,32] parameter(1)
  s = f32[64,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[64,32] tanh(s)
)");
  module->sums_in_order = true;
  const ValueGraph graph(*module->entry, cpu_target());
  const std::vector<ValueState> states = decide_values(graph, {});
  const StreamCluster cluster =
      grow_cluster(graph, states, array_behind(graph, module->entry->root->operand(0)), 0, {});
  ASSERT_FALSE(cluster.members.empty());
  EXPECT_TRUE(tile_keeps_order(graph, cluster, 32));
  EXPECT_FALSE(tile_keeps_order(graph, cluster, 2));   // a library doesn't make two rows
  EXPECT_FALSE(tile_keeps_order(graph, cluster, 31));  // two are left
}

}  // namespace
}  // namespace lowtide::engine
