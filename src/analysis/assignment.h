#pragma once
/// Which values share one buffer, and which buffers are allocations of their own: XLA's buffer assignment, from the
/// program alone.

#include <vector>

#include "analysis/in_place.h"
#include "analysis/leaf_bytes.h"
#include "analysis/liveness.h"
#include "analysis/partitioning.h"
#include "plan/problem.h"

namespace lowtide::engine {

/// Values at one address, one after the other or updated in place.
struct ValueGroup {
  std::vector<int32_t> values;  ///< defining leaves, by first step
  LeafBytes size;               ///< the largest of them
  std::vector<Lifetime> alive;  ///< sorted, disjoint
  int32_t argument = -1;        ///< leaf of the entry parameter that holds them
  bool result = false;          ///< one of them is a result of the program
  bool constant = false;
};

/// An argument, a result's buffer or a constant, with the groups that lie in it at offset 0.
struct Allocation {
  std::vector<int32_t> groups;  ///< the first is the one it was made for
};

struct Assignment {
  std::vector<ValueGroup> groups;
  std::vector<Allocation> own;    ///< allocations outside the arena
  std::vector<int32_t> in_arena;  ///< the remaining groups
  std::vector<bool> handed_on;    ///< by leaf: a later value took over these bytes in the arena while reading them
};

struct AssignmentOptions {
  XlaBackend backend = XlaBackend::kCpu;
  /// Tied values share a buffer whatever their lifetimes (XLA has copied where they clash); otherwise only where they
  /// don't clash, and any dying operand may be overwritten where that is legal.
  bool trust_ties = true;
  const Partitioning* sizes = nullptr;
  const Donation* donation = nullptr;
};

Assignment assign_buffers(const Module& module, const Leaves& leaves, const Timeline& timeline, const Values& values,
                          const Liveness& liveness, const VirtualFlags& is_virtual, const AssignmentOptions& options);

}  // namespace lowtide::engine
