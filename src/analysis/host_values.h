#pragma once
/// Which values are in the host's memory rather than the device's: those with S(5) in their layout, and those that
/// follow from calls that move values between the memories (ops/host_moves.h), by the rules of XLA's host offloader.
///
///     h = custom-call(x), custom_call_target="MoveToHost"       in host memory
///     s = dynamic-update-slice(stack, h, ...)                   so is the stack, in the whole loop that carries it,
///     y = custom-call(dynamic-slice(s, ...)), ...="MoveToDevice"  and its slices until they are moved back
///
/// Memory spaces have XLA's numbers: S(5) is the host's. Other spaces follow from layouts alone.

#include <vector>

#include "analysis/leaves.h"
#include "ir/module.h"

namespace lowtide::engine {

class HostValues {
 public:
  /// Is no value in host memory?
  bool none() const { return first_.empty(); }
  bool contains(const Instruction& i, int64_t leaf) const { return !none() && in_host_[first_[i.id] + leaf]; }

 private:
  friend class FindHostValues;
  std::vector<int32_t> first_;  ///< by instruction id; empty: nothing is in host memory
  std::vector<bool> in_host_;   ///< by leaf
};

HostValues find_host_values(const Module& module);

}  // namespace lowtide::engine
