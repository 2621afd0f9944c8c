#pragma once
/// Instructions that can run a few rows at a time along one dimension, each row being computed from a few rows of
/// others.

#include <map>
#include <vector>

#include "passes/stream/cluster.h"
#include "passes/windows/row_form.h"

namespace lowtide::engine {

/// Rows relative to a walk in tiles of T: [c + from, c + T + to) beside the tile that begins at c.
struct RowSpan {
  int64_t from = 0, to = 0;
  int64_t reach() const { return to - from; }
  void widen(const RowSpan& other);
};

struct RowMember {
  int64_t dimension = 0;
  int64_t at = 0;  ///< the walk's row c is about row c + at
  RowForm form;
  bool walked = false;  ///< computed in tiles; others only at the edges
  RowSpan span;         ///< of those walked
};

/// An array from elsewhere that tiles read, along which of its dimensions.
struct RowInput {
  GraphLeaf array;
  int64_t dimension = 0;
  auto operator<=>(const RowInput&) const = default;
};

struct RowCluster {
  std::map<int32_t, RowMember> members;  ///< by place in the graph
  std::vector<int32_t> outputs;          ///< read by others, by place
  std::map<RowInput, RowSpan> inputs;
  int64_t first = 0, last = 0;  ///< tiles lie within [first, last); other rows are computed separately
  bool is_member(int32_t place) const { return members.contains(place); }
};

/// The largest cluster around a stored array, in rows along its dimension d. Empty: impossible, or no member reads
/// neighbouring rows, in which case stream_slices handles it.
RowCluster grow_rows(const ValueGraph& graph, const std::vector<ValueState>& states, GraphLeaf seed, int64_t d);

/// Nanoseconds and bytes of the cluster.
struct RowWeight {
  double hidden_bytes = 0;  ///< stored before, and in tiles now
  double ns = 0;            ///< of the cluster as it stands
  double ns_per_tile = 0;   ///< starts, rows made by two tiles
};
RowWeight weigh_rows(const ValueGraph& graph, const std::vector<ValueState>& states, const RowCluster& cluster);

}  // namespace lowtide::engine
