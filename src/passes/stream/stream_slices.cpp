#include "passes/stream/stream_slices.h"

#include <algorithm>

#include "passes/stream/keep_order.h"
#include "passes/stream/stream.h"
#include "passes/stream/stream_largest.h"
#include "passes/stream/stream_loop.h"

namespace lowtide::engine {
namespace {

constexpr int kMostClusters = 32;       ///< per computation
constexpr int kDeepest = 1;             ///< streams in streams: heads within batches
constexpr double kLeastPart = 1.0 / 8;  ///< of the largest value: smaller ones don't determine the peak

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
    const ValueState state = states[place];
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
      if (hidden < kLeastHiddenBytes || hidden <= best.hidden_bytes) continue;
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
  const auto enters = [](const Instruction& i) {
    return i.opcode == Opcode::kWhile || i.opcode == Opcode::kConditional || i.opcode == Opcode::kCall;
  };
  const auto stream = [&](Computation& computation, const ValueGraph& graph,
                          const std::vector<ValueState>& states) -> Result<std::optional<Streamed>> {
    const Choice choice = best_choice(graph, states);
    if (choice.tile == 0) return std::optional<Streamed>();
    decisions.push_back({computation.name, choice.seed->name, choice.dimension, choice.tile});
    auto bodies = stream_cluster(computation, graph, states, choice.cluster, choice.tile);
    if (!bodies) return Status(Fault::kInternal, "values outside stand between those of a stream");
    return std::optional(Streamed{choice.hidden_bytes, std::move(*bodies)});
  };
  return stream_largest(module, target,
                        {.most_clusters = kMostClusters, .deepest = kDeepest, .enters = enters, .stream = stream});
}

}  // namespace lowtide::engine
