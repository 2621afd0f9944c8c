#include "passes/windows/stream_windows.h"

#include "passes/stream/stream_largest.h"
#include "passes/stream/stream_loop.h"
#include "passes/windows/row_loop.h"

namespace lowtide::engine {
namespace {

constexpr int kMostClusters = 8;  ///< per computation
constexpr double kLeastRowBytes = 256;
constexpr double kMostOutside = 0.25;  ///< of the rows: those that tiles don't compute

struct Choice {
  RowCluster cluster;
  int64_t tile = 0;
  double hidden_bytes = 0;
  const Instruction* seed = nullptr;
  int64_t dimension = 0;
};

/// The tile of up to 1.5 times this size that leaves the fewest rows to the edge.
int64_t snug_tile(int64_t tile, int64_t rows) {
  int64_t best = tile;
  for (int64_t t = tile; 2 * t <= 3 * tile; ++t) {
    if (rows % t < rows % best) best = t;
  }
  return best;
}

/// The smallest tile whose overhead is small; 0: none.
int64_t cheap_tile(const RowCluster& cluster, const RowWeight& weight, int64_t extent) {
  const int64_t rows = cluster.last - cluster.first;
  if (static_cast<double>(extent - rows) > kMostOutside * static_cast<double>(extent)) return 0;
  for (int64_t tile = 1; tile <= rows / 4; tile *= 2) {
    if (static_cast<double>(rows) / static_cast<double>(tile) * weight.ns_per_tile <= kMostOverhead * weight.ns) {
      return snug_tile(tile, rows);
    }
  }
  return 0;
}

Choice best_choice(const ValueGraph& graph, const std::vector<ValueState>& states) {
  Choice best;
  for (const Instruction* i : largest_arrays(graph, states, kMostSeeds)) {
    const GraphLeaf seed = array_behind(graph, *i);
    const double bytes = bytes_of(graph, seed);
    if (bytes < kLeastSeedBytes) break;
    if (best.cluster.is_member(seed.place)) continue;
    for (int64_t d = 0; d < i->shape.rank(); ++d) {
      const int64_t extent = i->shape.dims[d];
      const double row = static_cast<double>(i->shape.dims.back()) * type_bits(i->shape.type) / 8;
      if (d + 1 == i->shape.rank() && d > 0) break;
      if (row < kLeastRowBytes) break;
      RowCluster cluster = grow_rows(graph, states, seed, d);
      if (cluster.members.empty()) continue;
      const RowWeight weight = weigh_rows(graph, states, cluster);
      const int64_t tile = cheap_tile(cluster, weight, extent);
      if (tile == 0 || weight.hidden_bytes < kLeastHiddenBytes || weight.hidden_bytes <= best.hidden_bytes) continue;
      best = {std::move(cluster), tile, weight.hidden_bytes, i, d};
    }
  }
  return best;
}

}  // namespace

Result<PassResult> stream_windows(Module& module, const Target& target) {
  std::vector<StreamDecision> decisions;
  return stream_windows(module, target, decisions);
}

Result<PassResult> stream_windows(Module& module, const Target& target, std::vector<StreamDecision>& decisions) {
  const auto enters = [](const Instruction& i) {
    return i.opcode == Opcode::kWhile && i.frontend_attributes != kTilesAttribute;
  };
  const auto stream = [&](Computation& computation, const ValueGraph& graph,
                          const std::vector<ValueState>& states) -> Result<std::optional<Streamed>> {
    const Choice choice = best_choice(graph, states);
    if (choice.tile == 0) return std::optional<Streamed>();
    decisions.push_back({computation.name, choice.seed->name, choice.dimension, choice.tile, false, true});
    if (!stream_rows(computation, graph, states, choice.cluster, choice.tile)) {
      return Status(Fault::kInternal, "values outside stand between those of a stream");
    }
    return std::optional(Streamed{.hidden_bytes = choice.hidden_bytes, .bodies = {}});
  };
  return stream_largest(module, target, {.most_clusters = kMostClusters, .enters = enters, .stream = stream});
}

}  // namespace lowtide::engine
