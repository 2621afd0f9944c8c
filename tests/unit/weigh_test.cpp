// What a stream costs: each tile reads again what its products share.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "passes/stream/cluster.h"
#include "read_module.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

/// Of a product of 4096 rows with a matrix, and what is computed from it, streamed by rows.
ClusterWeight weight_of(int64_t columns) {
  const auto module = read(fmt::format(R"(HloModule m
ENTRY main {{
  x = f32[4096,64] parameter(0)
  w = f32[64,{0}] parameter(1)
  y = f32[4096,{0}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT t = f32[4096,{0}] tanh(y)
}}
)",
                                       columns));
  const ValueGraph graph(*module->entry, cpu_target());
  const std::vector<ValueState> states = decide_values(graph, {});
  const StreamCluster cluster =
      grow_cluster(graph, states, array_behind(graph, module->entry->root->operand(0)), 0, {});
  EXPECT_FALSE(cluster.members.empty());
  return weigh(graph, states, cluster);
}

TEST(Weigh, TilesReadSharedOperandsOnceEach) {
  const Cost& cost = cpu_target().cost();
  const double more = 64 * (256 - 128) * 4 * cost.shared_byte_ns();
  EXPECT_NEAR(weight_of(256).ns_per_tile - weight_of(128).ns_per_tile, more, 1e-6 * more);
}

}  // namespace
}  // namespace lowtide::engine
