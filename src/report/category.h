#pragma once
/// What values are for: derived first from the structure of the program, then from the names that JAX gives operations.

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
  /// The category of a value by itself, if no buffer is known (XLA's own allocations).
  Category of_value(const ValueRef& value) const;

 private:
  void mark_update_cones();
  bool is_saved_stack(const ValueRef& value) const;
  bool reads_stacks(const Instruction& loop) const;
  bool has_parameter_shape(const Shape& shape) const;

  const Graph& graph_;
  std::vector<bool> optimiser_state_;  ///< by instruction id: arguments that only the update reads
  std::vector<bool> gradient_;         ///< by instruction id: what the update reads in addition to arguments
  std::set<Dims> parameter_dims_;      ///< extents of the parameters, sorted: a scan may move the layers' dimension
};

/// Whether reverse-mode differentiation made the instruction: JAX names it transpose(...).
bool is_backward(const Instruction& instruction);
bool is_forward(const Instruction& instruction);  ///< under jvp(...), not transposed

}  // namespace lowtide::engine
