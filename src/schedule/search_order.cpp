#include "schedule/search_order.h"

#include <algorithm>

#include "schedule/improve_order.h"

namespace lowtide::engine {
namespace {

int64_t outside_bytes(const WorkGraph& graph) {
  int64_t sum = 0;
  std::vector<bool> made(graph.bytes.size(), false);
  for (const auto& writes : graph.writes) {
    for (const int32_t v : writes) made[v] = true;
  }
  for (size_t v = 0; v < made.size(); ++v) sum += made[v] ? 0 : graph.bytes[v];
  return sum;
}

std::vector<const Work*> in_order(const WorkGraph& graph, const std::vector<int32_t>& order) {
  std::vector<const Work*> out;
  for (const int32_t n : order) out.push_back(graph.nodes[n]);
  return out;
}

/// The best order of one computation so far.
struct Best {
  std::vector<int32_t> order;
  ModelledPeak peak;
  /// Records `other` if it is better; returns it unchanged.
  std::vector<int32_t> offer(const WorkGraph& graph, std::vector<int32_t> other) {
    const ModelledPeak theirs = modelled_peak(graph, other);
    if (order.empty() || theirs.bytes < peak.bytes) {
      order = other;
      peak = theirs;
    }
    return other;
  }
};

/// A trial examines every node, so large computations get fewer trials.
int64_t share_of(int64_t budget, const WorkGraph& graph) {
  return static_cast<int64_t>(std::min<double>(static_cast<double>(budget), 2e6 / static_cast<double>(graph.size())));
}

}  // namespace

std::vector<WorkOrder> candidate_orders(const Module& module, const ModuleWork& work, ValueTable& values,
                                        int64_t budget) {
  const WorkOrder given = given_order(work);
  constexpr size_t kKinds = std::size(kOrderKinds);
  // One order per kind, then the best order of each computation, then the improved one.
  std::vector<WorkOrder> out(kKinds + 2, given);
  std::unordered_map<const Computation*, int64_t> inside;
  const SideEffects effects(module);
  for (const Computation* computation : module.callees_first()) {
    const auto list = given.find(computation);
    if (list == given.end() || list->second.empty()) continue;
    const auto graph_for = [&](OrderRules rules) {
      return make_work_graph(*computation, list->second, values, inside, effects, rules);
    };
    const WorkGraph graph = graph_for(OrderRules::kEffects);
    const bool has_two_rules = graph.without_effect > 1;
    const WorkGraph held = has_two_rules ? graph_for(OrderRules::kAsGiven) : WorkGraph();
    const WorkGraph& first = has_two_rules ? held : graph;
    Best best;
    for (size_t k = 0; k < kKinds; ++k) {
      out[k][computation] = in_order(graph, best.offer(first, make_order(first, kOrderKinds[k])));
    }
    if (has_two_rules) {
      best.offer(held, improve_order(held, best.order, share_of(budget, held)));
      for (const OrderKind kind : kOrderKinds) best.offer(graph, make_order(graph, kind));
    }
    out[kKinds][computation] = in_order(graph, best.order);
    best.offer(graph, improve_order(graph, best.order, share_of(budget, graph)));
    out[kKinds + 1][computation] = in_order(graph, best.order);
    inside[computation] = std::max<int64_t>(0, best.peak.bytes - outside_bytes(graph));
  }
  // Each order once.
  std::vector<WorkOrder> distinct;
  for (WorkOrder& order : out) {
    if (std::find(distinct.begin(), distinct.end(), order) == distinct.end()) distinct.push_back(std::move(order));
  }
  return distinct;
}

}  // namespace lowtide::engine
