#include "passes/stream/stream_alike.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "passes/stream/stream_loop.h"

namespace lowtide::engine {
namespace {

Status unlike(const std::string& what) { return {Fault::kInput, "the programs differ at " + what}; }

/// Maps a cluster of one graph to another graph.
class Follower {
 public:
  Follower(const ValueGraph& from, const ValueGraph& to) : to_(to), place_(static_cast<size_t>(from.size()), kNoId) {
    std::unordered_map<std::string_view, int32_t> named;
    for (int32_t place = 0; place < to.size(); ++place) named.emplace(to.at(place).name, place);
    for (int32_t place = 0; place < from.size(); ++place) {
      const auto found = named.find(from.at(place).name);
      if (found != named.end()) place_[place] = found->second;
    }
  }

  std::vector<ValueState> follow(const std::vector<ValueState>& states) const {
    std::vector<ValueState> followed = decide_values(to_, {});
    for (size_t k = 0; k < states.size(); ++k) {
      if (place_[k] != kNoId) followed[place_[k]] = states[k];
    }
    return followed;
  }

  Result<StreamCluster> follow(const ValueGraph& from, const StreamCluster& cluster, int64_t extent) const {
    StreamCluster followed{.extent = extent,
                           .members = {},
                           .outputs = {},
                           .sums = {},
                           .added_into = {},
                           .kept = {},
                           .passes = cluster.passes};
    for (const auto& [place, member] : cluster.members) {
      const int32_t there = place_[place];
      if (there == kNoId || !reads_alike(from, place, there)) return unlike(from.at(place).name);
      StreamMember same = member;
      if (member.loop != nullptr) {
        Dims leaves = member.leaves;
        for (int64_t& leaf : leaves) leaf = std::max(leaf, kWhole);
        same.loop = walk_loop(to_.at(there), leaves, extent);
        if (same.loop == nullptr || same.loop->leaves != member.leaves) return unlike(from.at(place).name);
      }
      followed.members.emplace(there, std::move(same));
    }
    for (const GraphLeaf& array : cluster.outputs) followed.outputs.insert(at(array));
    for (const GraphLeaf& array : cluster.sums) followed.sums.insert(at(array));
    for (const auto& [sum, into] : cluster.added_into) followed.added_into.emplace(at(sum), at(into));
    for (const auto& [place, stays] : cluster.kept) followed.kept[place_[place]] = stays;
    return followed;
  }

 private:
  /// Equal values of a small program may have been shared: then operands differ.
  bool reads_alike(const ValueGraph& from, int32_t place, int32_t there) const {
    const auto alike = [&](const ValueGraph::Read& a, const ValueGraph::Read& b) {
      return place_[a.def] == b.def && a.leaf == b.leaf && a.operand == b.operand;
    };
    return to_.at(there).opcode == from.at(place).opcode &&
           std::ranges::equal(from.reads(place), to_.reads(there), alike);
  }
  GraphLeaf at(const GraphLeaf& array) const { return {place_[array.place], array.leaf}; }

  const ValueGraph& to_;
  std::vector<int32_t> place_;  ///< by place in the other graph
};

}  // namespace

Result<PassResult> stream_alike(Module& module, const Module& like, const Target& target,
                                const StreamDecision& decision, int64_t tile) {
  Computation* computation = module.find_computation(decision.computation);
  const Computation* pattern = like.find_computation(decision.computation);
  if (computation == nullptr || pattern == nullptr) return unlike(decision.computation);
  const Instruction* there = value_named(*computation, decision.seed);
  const Instruction* seed = value_named(*pattern, decision.seed);
  if (there == nullptr || seed == nullptr || there->shape.rank() != seed->shape.rank()) return unlike(decision.seed);
  const ValueGraph from(*pattern, target), to(*computation, target);
  const std::vector<ValueState> states = decide_values(from, {});
  const StreamCluster cluster =
      grow_cluster(from, states, array_behind(from, *seed), decision.dimension, options_of(decision));
  if (cluster.members.empty() || decision.windows || decision.all_layers) return unlike(decision.seed);
  const Follower follower(from, to);
  const int64_t extent = there->shape.dims[decision.dimension];
  if (tile < 1 || tile >= extent) return unlike(decision.seed);
  LT_ASSIGN_OR_RETURN(const StreamCluster followed, follower.follow(from, cluster, extent));
  if (!stream_cluster(*computation, to, follower.follow(states), followed, tile)) return unlike(decision.seed);
  return PassResult{.changed = true, .count = static_cast<int64_t>(followed.members.size()), .note = ""};
}

}  // namespace lowtide::engine
