#pragma once
/// What an instruction does beside making its value.

#include <unordered_set>

#include "ir/module.h"

namespace lowtide::engine {

/// Does running an instruction do more than make its value: infeed, send, stateful random bits, checks and callbacks;
/// through the computations it calls as well.
bool has_side_effect(const Instruction& instruction);

/// The same of all instructions of a module, whose calls are followed once.
class SideEffects {
 public:
  explicit SideEffects(const Module& module);
  bool has(const Instruction& instruction) const;

 private:
  std::unordered_set<const Computation*> effectful_;
};

}  // namespace lowtide::engine
