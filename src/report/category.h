#pragma once
/// What values are for: from the structure of the program first, then from the names JAX gives operations.

#include <set>
#include <vector>

#include "report/graph.h"
#include "report/report.h"

namespace lowtide::engine {

class Categories {
 public:
  explicit Categories(const Graph& graph);
  Category of(const AccountBuffer& buffer) const;
  Category of_argument(const Instruction& parameter) const;
  /// Of a value by itself, where no buffer is known (XLA's own allocations).
  Category of_value(const ValueRef& value) const;

 private:
  void mark_update_cones();
  bool is_saved_stack(const ValueRef& value) const;
  bool reads_stacks(const Instruction& loop) const;
  bool has_parameter_shape(const Shape& shape) const;

  const Graph& graph_;
  std::vector<bool> optimiser_state_;  ///< by instruction id: arguments read by the update alone
  std::vector<bool> gradient_;         ///< by instruction id: what the update reads beside arguments
  std::set<Dims> parameter_dims_;      ///< extents of the parameters, sorted: a scan may keep the layers elsewhere
};

/// Whether reverse-mode differentiation made the instruction: JAX names it transpose(...).
bool is_backward(const Instruction& instruction);
bool is_forward(const Instruction& instruction);  ///< under jvp(...), not transposed

}  // namespace lowtide::engine
