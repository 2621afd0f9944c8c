#pragma once
/// Instructions that can run slice by slice along one dimension that they share, with what folds the slices.

#include <map>
#include <set>
#include <vector>

#include "ir/module.h"
#include "region/value_graph.h"
#include "region/virtual_values.h"

namespace lowtide {

struct StreamMember {
  int64_t dimension = kNoId;  ///< of the result; kNoId: the result has all slices folded into it
  Dims folded;                ///< of those, per operand: the dimension that is folded; kNoId: read whole
  int32_t pass = 0;           ///< the first walk over all slices in which it can be made
  bool is_folded() const { return dimension == kNoId; }
};

/// Members that read a folded result, or any value made whole from members, are made in a later pass, which makes
/// anew the slices that it reads and that are not stored.
struct StreamCluster {
  int64_t extent = 0;                       ///< of the dimension
  std::map<int32_t, StreamMember> members;  ///< by place in the graph
  std::set<int32_t> outputs;                ///< members, not folded, that others read: stored whole
  int32_t passes = 0;
  bool is_member(int32_t place) const { return members.contains(place); }
};

struct ClusterOptions {
  bool one_pass = false;  ///< only members of the seed's own pass
};

/// The largest cluster around a stored array, sliced along its dimension d; no members: it can't be sliced.
StreamCluster grow_cluster(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t seed, int64_t d,
                           const ClusterOptions& options);

/// What the cluster costs and saves, bytes and nanoseconds.
struct ClusterWeight {
  double hidden_bytes = 0;  ///< stored at once before, now a tile's worth
  double inner_bytes = 0;   ///< of the slices of all tiles together: a tile holds its part of them
  double ns = 0;            ///< of the cluster as it stands
  double again_ns = 0;      ///< for what later passes make anew, all tiles together
  double ns_per_tile = 0;   ///< starts, whole operands read again, sums read and written again
  int64_t least_tile = 1;   ///< slices below which products and vectors are not filled
  /// Of tiles of this size, beyond the time of the cluster as it stands.
  double extra_ns(int64_t extent, int64_t tile) const {
    return again_ns + static_cast<double>((extent + tile - 1) / tile) * ns_per_tile;
  }
};
ClusterWeight weigh(const ValueGraph& graph, const std::vector<ValueState>& states, const StreamCluster& cluster);

/// The instruction behind an operand, by place.
int32_t place_behind(const ValueGraph& graph, const Instruction& operand);

/// Which members a pass makes: its outputs, its folds, and all slices that those need and no earlier pass stored.
std::set<int32_t> members_of_pass(const ValueGraph& graph, const StreamCluster& cluster, int32_t pass);

/// Made anew in each tile rather than stored for all: constants and cheap values without the dimension.
bool is_made_anew(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t place);

}  // namespace lowtide
