#pragma once
/// Decides which stored values one kernel computes together.

#include <vector>

#include "region/value_graph.h"
#include "region/virtual_values.h"

namespace lowtide::engine {

/// A draft of a piece of work: instructions by their place in the graph.
struct Draft {
  std::vector<int32_t> outputs;  ///< stored values computed by one region; one instruction of any other kind
  bool is_region = false;
};

/// Pieces of work in an order in which every piece follows its operands. Stored values of equal extents that share
/// operands, or read each other elementwise, are one piece, and so are updates in place of equal boxes; values that
/// only their own piece reads become virtual in `states`. Values that the options require to be stored stay separate.
std::vector<Draft> group_values(const ValueGraph& graph, const FormOptions& options, std::vector<ValueState>& states);

}  // namespace lowtide::engine
