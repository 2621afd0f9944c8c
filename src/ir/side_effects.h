#pragma once
/// Side effects of instructions.

#include <unordered_set>

#include "ir/module.h"

namespace lowtide::engine {

/// Does running an instruction do more than compute its value: infeed, send, stateful random bits, checks and
/// callbacks, also in the computations that it calls?
bool has_side_effect(const Instruction& instruction);

/// The same for all instructions of a module, visiting each called computation once.
class SideEffects {
 public:
  explicit SideEffects(const Module& module);
  bool has(const Instruction& instruction) const;

 private:
  std::unordered_set<const Computation*> effectful_;
};

}  // namespace lowtide::engine
