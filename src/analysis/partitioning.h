#pragma once
/// Sizes on one device: whole for a program of one device or one already partitioned, divided by the shardings before.

#include <string>
#include <vector>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"

namespace lowtide {

/// Are shapes those of all devices together, so that a partitioner has still to divide them? After the partitioner
/// shardings stay, if at all, on parameters alone.
bool has_global_shapes(const Module& module);

class Partitioning {
 public:
  /// Bytes of leaf `leaf` of an instruction on one device.
  LeafBytes of(const Instruction& instruction, int32_t leaf) const;
  bool divides() const { return !sharding_.empty(); }

 private:
  friend Partitioning find_partitioning(const Module& module, std::vector<std::string>& warnings);
  std::vector<const Sharding*> sharding_;  ///< by instruction id, where sizes are divided; null: unknown
};

/// Decides from the header and the shardings, and says in `warnings` what a reader of the figures must know: that the
/// program is not partitioned yet, or that its shardings contradict its header.
Partitioning find_partitioning(const Module& module, std::vector<std::string>& warnings);

}  // namespace lowtide
