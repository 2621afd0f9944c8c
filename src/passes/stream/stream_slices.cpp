#include "passes/stream/stream_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "passes/stream/keep_order.h"
#include "passes/stream/stream.h"
#include "passes/stream/stream_loop.h"

namespace lowtide::engine {
namespace {

constexpr int kMostClusters = 32;  ///< per computation
constexpr int kDeepest = 2;        ///< nested streams: heads within batches
constexpr size_t kMostSeeds = 6;   ///< tried for one cluster
constexpr double kLeastSeedBytes = 2 << 20;
constexpr double kLeastPart = 1.0 / 8;  ///< of the largest value: smaller ones don't determine the peak
constexpr double kLeastHidden = 2 << 20;
constexpr double kMostOverhead = 0.03;  ///< of the cluster's time

struct Choice {
  StreamCluster cluster;
  int64_t tile = 0;
  double hidden_bytes = 0;
  const Instruction* seed = nullptr;
  int64_t dimension = 0;
};

/// The smallest tile whose overhead is small.
int64_t cheap_tile(const ValueGraph& graph, const StreamCluster& cluster, const ClusterWeight& weight, bool in_order) {
  int64_t chosen = 0;
  for (const int64_t tile : tiles_of(cluster.extent, weight.least_tile)) {
    if (weight.extra_ns(cluster.extent, tile) > kMostOverhead * weight.ns) break;
    if (!in_order || tile_keeps_order(graph, cluster, tile)) chosen = tile;
  }
  return chosen;
}

/// The cluster that hides the most bytes, around one of the largest stored values.
Choice best_choice(const ValueGraph& graph, const std::vector<ValueState>& states) {
  double largest = 0;
  for (int32_t place = 0; place < graph.size(); ++place) {
    const ValueState state = states[static_cast<size_t>(place)];
    if ((state != ValueState::kStored && state != ValueState::kGiven) || !graph.at(place).shape.is_array()) continue;
    largest = std::max(largest, bytes_of(graph, {place, 0}));
  }
  Choice best;
  for (const Instruction* i : largest_arrays(graph, states, kMostSeeds)) {
    const GraphLeaf seed = array_behind(graph, *i);
    const double bytes = bytes_of(graph, seed);
    if (bytes < kLeastSeedBytes || bytes < kLeastPart * largest) break;
    if (best.cluster.is_member(seed.place)) continue;
    for (int64_t d = 0; d < i->shape.rank(); ++d) {
      StreamCluster cluster = grow_cluster(graph, states, seed, d, {});
      if (cluster.members.empty()) continue;
      const ClusterWeight weight = weigh(graph, states, cluster);
      const int64_t tile = cheap_tile(graph, cluster, weight, i->parent->module().sums_in_order);
      if (tile == 0) continue;
      const double part = static_cast<double>(tile) / static_cast<double>(cluster.extent);
      const double hidden = weight.hidden_bytes - part * weight.inner_bytes;
      if (hidden < kLeastHidden || hidden <= best.hidden_bytes) continue;
      best = {std::move(cluster), tile, hidden, i, d};
    }
  }
  return best;
}

}  // namespace

Result<PassResult> stream_slices(Module& module, const Target& target) {
  std::vector<StreamDecision> decisions;
  return stream_slices(module, target, decisions);
}

Result<PassResult> stream_slices(Module& module, const Target& target, std::vector<StreamDecision>& decisions) {
  PassResult result;
  double hidden = 0;
  struct Open {
    Computation* computation;
    int depth;  ///< of nested loops created here
  };
  std::vector<Open> open{{module.entry, 0}};
  std::unordered_set<const Computation*> seen;
  while (!open.empty()) {
    const auto [computation, depth] = open.back();
    open.pop_back();
    if (!seen.insert(computation).second) continue;
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kWhile || i->opcode == Opcode::kConditional || i->opcode == Opcode::kCall) {
        for (Computation* called : i->called) open.push_back({called, depth});
      }
    }
    // Most computations have no value that is large enough for a cluster.
    const bool any = std::ranges::any_of(computation->instructions(), [](const auto& i) {
      return i->shape.is_array() && static_cast<double>(safe_logical_bytes(i->shape)) >= kLeastSeedBytes;
    });
    for (int k = 0; any && k < kMostClusters; ++k) {
      const ValueGraph graph(*computation, target);
      const std::vector<ValueState> states = decide_values(graph, {});
      const Choice choice = best_choice(graph, states);
      if (choice.tile == 0) break;
      decisions.push_back({computation->name, choice.seed->name, choice.dimension, choice.tile});
      const auto bodies = stream_cluster(*computation, graph, states, choice.cluster, choice.tile);
      if (!bodies) return Status(Fault::kInternal, "values outside stand between those of a stream");
      for (Computation* body : *bodies) {
        if (depth + 1 < kDeepest) open.push_back({body, depth + 1});
      }
      hidden += choice.hidden_bytes;
      ++result.count;
    }
  }
  result.changed = result.count > 0;
  result.note = fmt::format("{} clusters streamed, {:.1f} MiB of intermediates less", result.count, hidden / 1048576);
  return result;
}

}  // namespace lowtide::engine
