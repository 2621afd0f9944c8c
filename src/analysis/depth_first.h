#pragma once
/// Depth-first orders: operands in the order that is best for trees (Liu 1987): the largest difference between what
/// computing it takes and what it leaves goes first.

#include <unordered_map>
#include <vector>

#include "analysis/liveness.h"

namespace lowtide::engine {

class DepthFirst {
 public:
  DepthFirst(const Module& module, const VirtualFlags& is_virtual);
  /// Instructions that have steps; those that the root doesn't need come last, as written.
  std::vector<const Instruction*> of(const Computation& computation) const;

 private:
  void estimate(const Computation& computation);
  const VirtualFlags& virtual_;
  std::vector<double> peak_, left_;  ///< bytes, by instruction id: at most while it is computed, and afterwards
};

}  // namespace lowtide::engine
