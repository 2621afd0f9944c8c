// A sum that begins where another ends is added up in the same pass of a stream, in the same accumulator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "passes/stream/cluster.h"
#include "read_module.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

/// A product's sum over rows, to which a scatter adds the same rows, streamed by rows. `type`: of the sums; `results`:
/// what the program returns.
StreamCluster cluster_of(const char* type, const char* results, bool exact = false) {
  const auto module = read(fmt::format(R"(HloModule m
add {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] add(a, b)
}}

ENTRY main {{
  x = {0}[4096,64] parameter(0)
  w = {0}[64,64] parameter(1)
  rows = s32[4096] parameter(2)
  xw = {0}[4096,64] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  h = {0}[4096,64] negate(xw)
  first = {0}[64,64] dot(h, x), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
  second = {0}[64,64] scatter(first, rows, h), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add
  ROOT r = ({1}) tuple({2})
}}
)",
                                       type,
                                       std::string(results).find(',') == std::string::npos
                                           ? fmt::format("{}[64,64]", type)
                                           : fmt::format("{0}[64,64], {0}[64,64]", type),
                                       results));
  module->sums_in_order = exact;
  const ValueGraph graph(*module->entry, cpu_target());
  const Instruction* seed = nullptr;
  for (const auto& i : module->entry->instructions()) {
    if (i->name == "xw") seed = i.get();
  }
  return grow_cluster(graph, decide_values(graph, {}), array_behind(graph, *seed), 0, {});
}

TEST(ContinuedSums, AreOneAccumulatorOfOnePass) {
  const StreamCluster cluster = cluster_of("f32", "second");
  EXPECT_EQ(cluster.passes, 1);
  ASSERT_EQ(cluster.added_into.size(), 1);
  const auto& [first, second] = *cluster.added_into.begin();
  EXPECT_EQ(cluster.sums, std::set<GraphLeaf>{second});
  EXPECT_EQ(cluster.accumulator_of(first), second);
  EXPECT_EQ(cluster.accumulator_of(second), second);
}

TEST(ContinuedSums, OthersNeedAnotherPass) {
  for (const StreamCluster& cluster :
       {cluster_of("f32", "first, second"), cluster_of("f32", "second", true),
        cluster_of("bf16", "second")}) {  // sums of bf16 products are f32, of scatters not
    EXPECT_NE(cluster.passes, 1);
    EXPECT_TRUE(cluster.added_into.empty());
  }
}

}  // namespace
}  // namespace lowtide::engine
