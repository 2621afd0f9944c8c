#include "schedule/improve_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/partitioning.h"
#include "schedule/search_order.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

WorkGraph graph_of_nodes(size_t nodes, std::vector<int64_t> bytes) {
  WorkGraph graph;
  graph.nodes.resize(nodes, nullptr);
  for (auto* lists : {&graph.before, &graph.after, &graph.reads, &graph.writes}) lists->resize(nodes);
  graph.inside.resize(nodes, 0);
  graph.stays.resize(bytes.size(), false);
  graph.bytes = std::move(bytes);
  return graph;
}

void reads(WorkGraph& graph, int32_t node, int32_t value, int32_t writer) {
  graph.reads[node].push_back(value);
  graph.before[node].push_back(writer);
  graph.after[writer].push_back(node);
}

/// A gradient and a cotangent (node 0), a loop that reads the cotangent and holds much (1), the gradient summed over
/// devices (2) and one device's part of the sum (3): small only after both.
WorkGraph summed_and_cut() {
  WorkGraph graph = graph_of_nodes(4, {1000, 1000, 10, 1});
  for (const int32_t n : {0, 2, 3}) graph.writes[n].push_back(n == 0 ? 0 : n - 1);
  graph.writes[0].push_back(3);
  reads(graph, 1, 3, 0);
  graph.inside[1] = 5000;
  graph.stays[2] = true;
  reads(graph, 2, 0, 0);
  reads(graph, 3, 1, 2);
  return graph;
}

TEST(ImproveOrder, BringsForwardWhatIsSmallOnlyBehindTheNextReader) {
  const WorkGraph graph = summed_and_cut();
  const std::vector<int32_t> improved = improve_order(graph, {0, 1, 2, 3}, 100);
  EXPECT_EQ(improved, (std::vector<int32_t>{0, 2, 3, 1}));
  EXPECT_LT(modelled_peak(graph, improved).bytes, modelled_peak(graph, {0, 1, 2, 3}).bytes);
}

TEST(ImproveOrder, LeavesWhatIsAsLargeBehindAllReaders) {
  WorkGraph graph = summed_and_cut();
  graph.bytes[2] = 1000;
  EXPECT_EQ(improve_order(graph, {0, 1, 2, 3}, 100), (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(ImproveOrder, DelaysTheFirstStep) {
  // Node 0 makes much that only node 2 reads; node 1 needs much memory of its own.
  WorkGraph graph = graph_of_nodes(3, {1000, 10});
  graph.writes[0].push_back(0);
  graph.writes[1].push_back(1);
  graph.inside[1] = 5000;
  reads(graph, 2, 0, 0);
  reads(graph, 2, 1, 1);
  EXPECT_EQ(improve_order(graph, {0, 1, 2}, 100), (std::vector<int32_t>{1, 0, 2}));
}

/// Node 1 reads three values and makes three: each result lies over an operand that nothing reads later.
TEST(ModelledPeak, EachResultAliasesAnOperand) {
  WorkGraph graph = graph_of_nodes(3, {100, 100, 100, 100, 100, 100});
  for (const int32_t v : {0, 1, 2}) {
    graph.writes[0].push_back(v);
    graph.writes[1].push_back(3 + v);
    reads(graph, 1, v, 0);
    reads(graph, 2, 3 + v, 1);
  }
  EXPECT_EQ(modelled_peak(graph, {0, 1, 2}).bytes, 300);
  reads(graph, 2, 0, 0);
  EXPECT_EQ(modelled_peak(graph, {0, 1, 2}).bytes, 400) << "one operand is read again";
  graph.bytes[4] = graph.bytes[5] = 99;
  EXPECT_EQ(modelled_peak(graph, {0, 1, 2}).bytes, 498) << "two results are of another size";
}

TEST(Order, DepthFirstBeginsWithWhatNeedsMost) {
  // While node 1 runs, for node 2, the result of node 0 is alive as well: 10 + 50 bytes. Node 3 needs 41.
  WorkGraph graph = graph_of_nodes(5, {10, 10, 1, 1});
  for (const int32_t n : {0, 1, 2, 3}) graph.writes[n].push_back(n);
  graph.inside[0] = graph.inside[1] = graph.inside[3] = 40;
  reads(graph, 2, 0, 0);
  reads(graph, 2, 1, 1);
  reads(graph, 4, 3, 3);
  reads(graph, 4, 2, 2);
  EXPECT_EQ(make_order(graph, OrderKind::kDepthFirst), (std::vector<int32_t>{0, 1, 2, 3, 4}));
}

TEST(CandidateOrders, AreThoseOfEveryKind) {
  // `small` is made of `big`, which nothing reads any more: made only where it is read, it keeps `big` until then.
  auto parsed = parse_hlo(std::make_shared<Source>(Source{"test.hlo", R"(HloModule m
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[64,256] parameter(0)
  y = f32[64,16] parameter(1)
  m = f32[16,16] parameter(2)
  big = f32[64,256] sort(x), dimensions={1}, to_apply=less
  part = f32[64,16] slice(big), slice={[0:64], [0:16]}
  first = f32[64,16] sort(part), dimensions={0}, to_apply=less
  small = f32[16,256] dot(y, big), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  second = f32[64,16] dot(first, m), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  third = f32[64,16] sort(second), dimensions={0}, to_apply=less
  ROOT z = f32[64,256] dot(third, small), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"}));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const std::unique_ptr<Module> module = parsed.take();
  const ModuleWork work = form_work(*module, cpu_target());
  ValueTable values(*module, work, std::make_shared<const Partitioning>(stated_partitioning(*module)));
  const WorkGraph graph =
      make_work_graph(*module->entry, given_order(work).at(module->entry), values, {}, SideEffects(*module));
  std::vector<std::vector<const Work*>> tried;
  for (WorkOrder& order : candidate_orders(*module, work, values, 0)) tried.push_back(order.at(module->entry));
  const auto nodes_of = [&](OrderKind kind) {
    std::vector<const Work*> nodes;
    for (const int32_t n : make_order(graph, kind)) nodes.push_back(graph.nodes[n]);
    return nodes;
  };
  for (const OrderKind kind : kOrderKinds) {
    EXPECT_EQ(std::ranges::count(tried, nodes_of(kind)), 1) << static_cast<int>(kind);
    EXPECT_EQ(nodes_of(kind) == nodes_of(OrderKind::kLate), kind == OrderKind::kLate) << "the control";
  }
}

/// Edges between the second instruction of two of a kind and the first.
bool is_ordered(const std::string& two) {
  auto parsed = parse_hlo(std::make_shared<Source>(Source{"test.hlo",
                                                          "HloModule m\nsum { a = f32[] parameter(0)\n b = "
                                                          "f32[] parameter(1)\n ROOT c = f32[] add(a, b) "
                                                          "}\nENTRY main {\n" +
                                                              two + "\n}"}));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  const std::unique_ptr<Module> module = parsed.take();
  const ModuleWork work = form_work(*module, cpu_target());
  ValueTable values(*module, work, std::make_shared<const Partitioning>(stated_partitioning(*module)));
  const WorkOrder order = given_order(work);
  const WorkGraph graph = make_work_graph(*module->entry, order.at(module->entry), values, {}, SideEffects(*module));
  size_t edges = 0;
  for (const auto& before : graph.before) edges += before.size();
  return edges > 0;
}

TEST(WorkGraph, EffectsKeepTheirOrderAndCollectivesNeedNot) {
  EXPECT_TRUE(
      is_ordered("x = f32[8] parameter(0)\n y = f32[8] parameter(1)\n"
                 "a = f32[8] custom-call(x), custom_call_target=\"print\", custom_call_has_side_effect=true\n"
                 "b = f32[8] custom-call(y), custom_call_target=\"print\", custom_call_has_side_effect=true\n"
                 "ROOT r = (f32[8], f32[8]) tuple(a, b)"));
  EXPECT_FALSE(
      is_ordered("x = f32[8] parameter(0)\n y = f32[8] parameter(1)\n"
                 "a = f32[8] all-reduce(x), replica_groups={}, to_apply=sum\n"
                 "b = f32[8] all-reduce(y), replica_groups={}, to_apply=sum\n"
                 "ROOT r = (f32[8], f32[8]) tuple(a, b)"));
}

}  // namespace
}  // namespace lowtide::engine
