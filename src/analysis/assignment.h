#pragma once
/// Which values share a buffer, and which buffers are separate allocations: XLA's buffer assignment, computed from the
/// program alone.

#include <vector>

#include "analysis/in_place.h"
#include "analysis/leaf_bytes.h"
#include "analysis/liveness.h"
#include "analysis/partitioning.h"
#include "plan/problem.h"

namespace lowtide::engine {

/// Values at one address, live one after the other or updated in place.
struct ValueGroup {
  std::vector<int32_t> values;  ///< defining leaves, by first step
  LeafBytes size;               ///< of the largest value
  std::vector<Lifetime> alive;  ///< sorted, disjoint
  int32_t argument = -1;        ///< leaf of the entry parameter that holds the values; -1: none
  bool result = false;          ///< one of the values is a result of the program
  bool constant = false;
};

/// An argument, a result's buffer or a constant, with the groups stored in it at offset 0.
struct Allocation {
  std::vector<int32_t> groups;  ///< the first is the one for which it was allocated
};

struct Assignment {
  std::vector<ValueGroup> groups;
  std::vector<Allocation> own;    ///< allocations outside the arena
  std::vector<int32_t> in_arena;  ///< the remaining groups
  std::vector<bool> handed_on;    ///< by leaf: its last reader's result takes over its bytes in the arena
};

struct AssignmentOptions {
  XlaBackend backend = XlaBackend::kCpu;
  /// Tied values share a buffer whatever their lifetimes, since XLA has copied where they would clash. If false, they
  /// share only if they don't clash, and any operand read for the last time may be overwritten if that is legal.
  bool trust_ties = true;
  const Partitioning* sizes = nullptr;
  const Donation* donation = nullptr;
};

Assignment assign_buffers(const Module& module, const Leaves& leaves, const Timeline& timeline, const Values& values,
                          const Liveness& liveness, const VirtualFlags& is_virtual, const AssignmentOptions& options);

}  // namespace lowtide::engine
