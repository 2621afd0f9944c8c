#pragma once
/// Depth-first orders, with operands in the order that is best for trees (Liu 1987): by decreasing difference between
/// the peak bytes while computing the operand and the bytes that it leaves.

#include <unordered_map>
#include <vector>

#include "analysis/liveness.h"

namespace lowtide::engine {

class DepthFirst {
 public:
  DepthFirst(const Module& module, const VirtualFlags& is_virtual);
  /// The computation's instructions except virtual ones; those that the root doesn't need are last, in program order.
  std::vector<const Instruction*> of(const Computation& computation) const;

 private:
  void estimate(const Computation& computation);
  const VirtualFlags& virtual_;
  std::vector<double> peak_, left_;  ///< by instruction id: peak bytes while computing it, and bytes left after it
};

}  // namespace lowtide::engine
