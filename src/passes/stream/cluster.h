#pragma once
/// Instructions that can run slice by slice along a common dimension, and folds over the slices.

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/index_map.h"
#include "ir/module.h"
#include "passes/stream/loop_walk.h"
#include "region/value_graph.h"
#include "region/virtual_values.h"

namespace lowtide::engine {

/// An array of the graph: leaf of the result of the instruction at a place.
struct GraphLeaf {
  int32_t place = kNoId, leaf = 0;
  auto operator<=>(const GraphLeaf&) const = default;
};

struct StreamMember {
  Dims leaves;                           ///< per array of the result: its dimension; kWhole or kSummed
  Dims reads;                            ///< per array read: its dimension; kWhole; kInitial
  std::shared_ptr<const LoopWalk> loop;  ///< for a while loop
  int32_t pass = 0;                      ///< the first pass over all slices in which it can be computed
};
inline constexpr int64_t kInitial = -3;  ///< read once, before the first tile: a sum's initial value

/// One pass stores all slices of a value, for later passes up to the last that reads them.
struct Stay {
  int32_t first = 0, last = 0;
};

/// A slice of an array whose dimension was merged with inner ones, or consists of groups, is a block of several
/// elements along it: the dimension's extent divided by the cluster's.
///
/// Members that read a sum, or any other value that needs all slices, are computed in a later pass, which recomputes
/// the slices that it reads and that are not stored.
struct StreamCluster {
  int64_t extent = 0;              ///< of the dimension
  IndexMap<StreamMember> members;  ///< by place in the graph
  std::set<GraphLeaf> outputs;     ///< slices that non-members read: stored whole
  std::set<GraphLeaf> sums;
  /// By sum that nothing reads but another sum of its pass, which begins with it: that other one (continued_sums.h).
  /// Both have one accumulator, to which each tile adds its terms of the one, then of the other; `sums` has the latter.
  std::map<GraphLeaf, GraphLeaf> added_into;
  /// By output: the array whose memory it takes, and which members read only slice by slice along the output's own
  /// dimension: the parameter of which the output is the next value or, donated, the result; or, in bodies
  /// of loops, an array of the same shape that nothing else reads.
  std::map<GraphLeaf, GraphLeaf> consumed;
  std::map<int32_t, std::vector<Stay>> kept;  ///< by place: values stored only between passes, in order
  int32_t passes = 0;
  bool is_member(int32_t place) const { return members.contains(place); }
  /// The dimension along which a member computes the array; kWhole for others.
  int64_t dimension_of(GraphLeaf array) const {
    const auto member = members.find(array.place);
    return member == members.end() ? kWhole : member->second.leaves[array.leaf];
  }
  bool is_sum(GraphLeaf array) const { return dimension_of(array) == kSummed; }
  /// Elements of a slice along the array's dimension d.
  int64_t block_of(const Shape& array, int64_t d) const { return array.dims[d] / extent; }
  /// The sum in whose accumulator the tiles add up this one: itself, or the last that goes on from it.
  GraphLeaf accumulator_of(GraphLeaf sum) const;
  /// Can the pass read all slices of it from memory?
  bool is_stored_before(GraphLeaf array, int32_t pass) const;
  /// Does the pass store all slices of it?
  bool is_stored_by(GraphLeaf array, int32_t pass) const;
};

struct ClusterOptions {
  bool one_pass = false;  ///< only members of the seed's own pass
  /// Only for the seed, and what is computed from it slice by slice: other readers of the other members use the
  /// original ones, which are thus computed twice.
  bool alone = false;
  /// Only members of so many passes, from the first that needs the seed on; 0: all. Values before these are inputs,
  /// even if they could be computed slice by slice as well.
  int32_t passes = 0;
  const std::vector<bool>* barred = nullptr;  ///< by place: values that may not be members; null: all may
  double store = 0;  ///< price at which values for later passes are stored (between_passes.h); 0: only outputs are
};

/// The largest cluster around a stored array, sliced along its dimension d; no members: it can't be sliced.
StreamCluster grow_cluster(const ValueGraph& graph, const std::vector<ValueState>& states, GraphLeaf seed, int64_t d,
                           const ClusterOptions& options);

/// What the cluster costs and saves, bytes and nanoseconds.
struct ClusterWeight {
  double hidden_bytes = 0;  ///< stored whole before, now only a tile of them
  double inner_bytes = 0;   ///< of slices, for all tiles together: a tile holds its part of them
  double ns = 0;            ///< of the cluster without tiles
  double again_ns = 0;      ///< of what later passes recompute, all tiles together
  double ns_per_tile = 0;   ///< kernel starts, rereading whole operands, reading and writing sums
  int64_t least_tile = 1;   ///< fewest slices that fill products and vectors
  /// Additional time with tiles of this size.
  double extra_ns(int64_t extent, int64_t tile) const {
    const int64_t tiles = (extent + tile - 1) / tile;
    return again_ns + static_cast<double>(tiles) * ns_per_tile;
  }
};
/// Modelled time of all of an instruction's own arithmetic.
double own_ns(const Instruction& i, const Target& target);
ClusterWeight weigh(const ValueGraph& graph, const std::vector<ValueState>& states, const StreamCluster& cluster);

/// Is a member's array a result, or read by others than members?
bool is_read_outside(const ValueGraph& graph, const StreamCluster& cluster, GraphLeaf array);

/// The array that an operand refers to, through tuples.
GraphLeaf array_behind(const ValueGraph& graph, const Instruction& operand);
const Shape& shape_of(const ValueGraph& graph, GraphLeaf array);
double bytes_of(const ValueGraph& graph, GraphLeaf array);

/// The largest arrays that are stored and aren't results, largest first: the instructions that compute them, or the
/// reads of a loop's elements.
std::vector<const Instruction*> largest_arrays(const ValueGraph& graph, const std::vector<ValueState>& states,
                                               size_t most);

/// The value that a member reads as number `read`: an operand, or an element of a loop's initial tuple.
Instruction& read_of(const Instruction& member, size_t read);

/// The members that a pass computes, by place: its outputs, its sums, and all slices that those need and that no
/// earlier pass has stored.
std::vector<int32_t> members_of_pass(const ValueGraph& graph, const StreamCluster& cluster, int32_t pass);

/// Is it recomputed in each tile rather than stored for all? Constants and cheap values without the dimension are.
bool is_made_anew(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t place);
/// The same, unless it reads what the cluster's tiles overwrite.
bool is_made_anew(const ValueGraph& graph, const std::vector<ValueState>& states, const StreamCluster& cluster,
                  int32_t place);

}  // namespace lowtide::engine
