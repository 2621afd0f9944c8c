#include "passes/stream/continued_sums.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

/// Is the fold, or an element of the loop's state, a sum in which each tile may add to what is there?
bool is_added_up(const Instruction& folded) {
  switch (folded.opcode) {
    case Opcode::kDot:
    case Opcode::kConvolution:
    case Opcode::kWhile: return true;
    case Opcode::kReduce:
    case Opcode::kScatter: return adds(folded);
    default: return false;
  }
}

}  // namespace

bool goes_on(const ValueGraph& graph, const StreamCluster& cluster, int32_t place, size_t read) {
  const Instruction& user = graph.at(place);
  const ValueGraph::Read& begin = graph.reads(place)[read];
  const GraphLeaf sum{begin.def, begin.leaf};
  if (cluster.members.at(place).reads[read] != kInitial || !cluster.is_sum(sum)) return false;
  const Instruction& folded = graph.at(sum.place);
  const bool has_array = user.opcode == Opcode::kScatter || user.opcode == Opcode::kWhile;  // others begin with scalars
  if (!has_array || !is_added_up(user) || !is_added_up(folded)) return false;
  const Shape& shape = shape_of(graph, sum);
  if (user.parent->module().sums_in_order && !is_integral(shape.type)) return false;
  if (type_of_sums(user, shape) != type_of_sums(folded, shape)) return false;
  const auto readers = std::ranges::count_if(
      graph.users(sum.place), [&](const ValueGraph::Read& r) { return r.leaf == sum.leaf && graph.is_live(r.user); });
  return readers == 1 && !is_read_outside(graph, cluster, sum);
}

std::map<GraphLeaf, GraphLeaf> continued_sums(const ValueGraph& graph, const StreamCluster& cluster) {
  std::map<GraphLeaf, GraphLeaf> found;
  for (const auto& [place, member] : cluster.members) {
    const auto reads = graph.reads(place);
    for (size_t k = 0; k < reads.size(); ++k) {
      if (!cluster.is_member(reads[k].def) || !goes_on(graph, cluster, place, k)) continue;
      if (cluster.members.at(reads[k].def).pass != member.pass) continue;
      const auto leaf = member.loop != nullptr ? static_cast<int32_t>(k) : 0;
      found.emplace(GraphLeaf{reads[k].def, reads[k].leaf}, GraphLeaf{place, leaf});
    }
  }
  return found;
}

ElementType type_of_sums(const Instruction& folded, const Shape& sums) {
  const bool wide = is_product(folded) || folded.opcode == Opcode::kWhile;
  return wide ? type_of_sums(sums.type) : sums.type;
}

}  // namespace lowtide::engine
