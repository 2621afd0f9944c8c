#pragma once
/// From stored values to the region that computes them.

#include <span>
#include <vector>

#include "region/value_graph.h"
#include "region/virtual_values.h"

namespace lowtide::engine {

/// What the outputs read is virtual, and taken in, or an input. The order of operations and inputs follows the graph
/// from the outputs alone, so that equal bodies give equal regions.
class RegionMaker {
 public:
  RegionMaker(const ValueGraph& graph, const std::vector<ValueState>& states)
      : graph_(graph), states_(states), seen_(static_cast<size_t>(graph.size()), 0) {}

  Region make(std::span<const int32_t> outputs);

 private:
  void visit(int32_t root, std::span<const int32_t> outputs);
  void add_input(LeafRef input);
  void add_outputs(int32_t place);

  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  std::vector<int32_t> seen_;  ///< by place: the last region that took it in
  int32_t stamp_ = 0;
  Region region_;
};

}  // namespace lowtide::engine
