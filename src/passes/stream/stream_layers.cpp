#include "passes/stream/stream_layers.h"

#include <algorithm>

#include "analysis/roles.h"
#include "base/thread_pool.h"
#include "passes/stream/keep_order.h"
#include "passes/stream/stream_loop.h"

namespace lowtide::engine {
namespace {

/// So often layers that read what others compute are looked for again in what those have become: every second one the
/// first time, the rest the second time.
constexpr int kMostRounds = 2;

/// Clusters of one graph that can be written one after the other without looking at the graph again.
class Independent {
 public:
  Independent(const ValueGraph& graph, const std::vector<ValueState>& states)
      : graph_(graph), states_(states), is_taken_(static_cast<size_t>(graph.size()), false) {}

  /// False if it has members in common with one that was added, or reads what that computes, or the other way round.
  bool add(const StreamCluster& cluster) {
    for (const auto& [place, member] : cluster.members) {
      if (is_taken_[place] || reads_taken(cluster, place)) return false;
      const auto is_taken = [&](const ValueGraph::Read& read) { return is_taken_[read.user]; };
      if (std::ranges::any_of(graph_.users(place), is_taken)) return false;
    }
    for (const auto& [place, member] : cluster.members) is_taken_[place] = true;
    return true;
  }

 private:
  /// Also through cheap values, which each tile computes from what they read.
  bool reads_taken(const StreamCluster& cluster, int32_t place) const {
    return std::ranges::any_of(graph_.reads(place), [&](const ValueGraph::Read& read) {
      if (is_taken_[read.def]) return true;
      const bool is_followed = !cluster.is_member(read.def) && is_made_anew(graph_, states_, cluster, read.def);
      return is_followed && reads_taken(cluster, read.def);
    });
  }

  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  std::vector<bool> is_taken_;  ///< by place
};

/// Clusters of equal layers in one graph, by seed; no members: the seed can't be streamed, or is in another's cluster.
class Layers {
 public:
  Layers(const ValueGraph& graph, const std::vector<ValueState>& states, const StreamDecision& decision,
         const std::vector<Instruction*>& seeds)
      : graph_(graph), states_(states), decision_(decision), seeds_(seeds), clusters_(seeds.size()) {
    std::vector<bool> shared(static_cast<size_t>(graph.size()), false);
    grow(nullptr);
    drop_joined();
    if (!find_shared(shared)) return;
    grow(&shared);
    drop_joined();
  }
  StreamCluster& operator[](size_t k) { return clusters_[k]; }

 private:
  void grow(const std::vector<bool>* barred) {
    const Module& module = seeds_[0]->parent->module();
    ClusterOptions options = options_of(decision_);
    options.barred = barred;
    module.context().pool().run(std::ssize(seeds_), [&](int64_t task, int) {
      const auto k = static_cast<size_t>(task);
      if (barred != nullptr && clusters_[k].members.empty()) return;
      clusters_[k] = grow_cluster(graph_, states_, array_behind(graph_, *seeds_[k]), decision_.dimension, options);
      if (module.sums_in_order && !tile_keeps_order(graph_, clusters_[k], decision_.tile)) clusters_[k] = {};
    });
  }

  /// One cluster is enough for all seeds in it.
  void drop_joined() {
    std::vector<bool> is_joined(static_cast<size_t>(graph_.size()), false);
    for (size_t k = 0; k < seeds_.size(); ++k) {
      if (is_joined[array_behind(graph_, *seeds_[k]).place]) clusters_[k] = {};
      for (const auto& [place, member] : clusters_[k].members) is_joined[place] = true;
    }
  }

  /// Marks what several layers would compute, such as the mask of their attention. It is stored for all.
  bool find_shared(std::vector<bool>& shared) const {
    std::vector<bool> is_member(shared.size(), false);
    bool any = false;
    for (const StreamCluster& cluster : clusters_) {
      for (const auto& [place, member] : cluster.members) {
        if (is_member[place]) any = shared[place] = true;
        is_member[place] = true;
      }
    }
    return any;
  }

  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  const StreamDecision& decision_;
  const std::vector<Instruction*>& seeds_;
  std::vector<StreamCluster> clusters_;
};

}  // namespace

int64_t stream_layers(Instruction& seed, const Target& target, const StreamDecision& decision,
                      const StatesOf& states_of) {
  Computation& computation = *seed.parent;
  std::vector<Instruction*> seeds = with_same_role(seed);
  int64_t count = 0;
  for (int round = 0; round < kMostRounds && !seeds.empty(); ++round) {
    const ValueGraph graph(computation, target);
    const std::vector<ValueState> states = states_of(graph);
    Layers layers(graph, states, decision, seeds);
    Independent chosen(graph, states);
    std::vector<Instruction*> left;
    for (size_t k = 0; k < seeds.size(); ++k) {
      if (layers[k].members.empty()) continue;
      if (!chosen.add(layers[k])) {
        left.push_back(seeds[k]);
        continue;
      }
      if (!stream_cluster(computation, graph, states, layers[k], decision.tile)) return 0;
      count += std::ssize(layers[k].members);
    }
    seeds = std::move(left);
  }
  return count;
}

}  // namespace lowtide::engine
