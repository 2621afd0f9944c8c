#pragma once
/// Instructions that can run a few rows at a time along one dimension, each row being computed from a few rows of
/// others.

#include <map>
#include <vector>

#include "passes/stream/cluster.h"
#include "passes/windows/row_form.h"

namespace lowtide::engine {

/// Rows relative to a tile of T rows that begins at c: [c + from, c + T + to).
struct RowSpan {
  int64_t from = 0, to = 0;
  int64_t reach() const { return to - from; }
  void widen(const RowSpan& other);
};

struct RowMember {
  int64_t dimension = 0;
  int64_t at = 0;  ///< row c of a tile corresponds to about row c + at
  RowForm form;
  bool walked = false;  ///< computed in tiles; others only at the edges
  RowSpan span;         ///< of those walked
};

/// An array from outside the cluster that tiles read, and the dimension along which they read it.
struct RowInput {
  GraphLeaf array;
  int64_t dimension = 0;
  auto operator<=>(const RowInput&) const = default;
};

struct RowCluster {
  IndexMap<RowMember> members;   ///< by place in the graph
  std::vector<int32_t> outputs;  ///< read by non-members, by place
  std::map<RowInput, RowSpan> inputs;
  int64_t first = 0, last = 0;  ///< tiles lie within [first, last); other rows are computed separately
  bool is_member(int32_t place) const { return members.contains(place); }
};

/// The largest cluster around a stored array, in rows along its dimension d. Empty: impossible, or no member reads
/// neighbouring rows, in which case stream_slices handles it.
RowCluster grow_rows(const ValueGraph& graph, const std::vector<ValueState>& states, GraphLeaf seed, int64_t d);

/// Nanoseconds and bytes of the cluster.
struct RowWeight {
  double hidden_bytes = 0;  ///< of values that were stored, and now exist only in tiles
  double ns = 0;            ///< of the cluster without tiles
  double ns_per_tile = 0;   ///< kernel starts, rows that two tiles compute
};
RowWeight weigh_rows(const ValueGraph& graph, const std::vector<ValueState>& states, const RowCluster& cluster);

}  // namespace lowtide::engine
