#pragma once
/// Builds the region that computes given stored values.

#include <span>
#include <vector>

#include "region/value_graph.h"
#include "region/virtual_values.h"

namespace lowtide::engine {

/// A value that the outputs read is either virtual, and included, or an input. The order of operations and inputs
/// depends only on the graph seen from the outputs, so that equal bodies give equal regions.
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
  std::vector<int32_t> seen_;  ///< by place: the last region that included it
  int32_t stamp_ = 0;
  Region region_;
};

}  // namespace lowtide::engine
