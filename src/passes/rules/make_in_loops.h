#pragma once
/// Moves work after a loop that reads the loop's stacks slice by slice into the loop, where each iteration computes its
/// slices.

#include "passes/pass.h"

namespace lowtide::engine {

enum class MadeInLoops : uint8_t {
  kReductions,  ///< until the stack has been reduced to little
  kUpdates,     ///< until arrays are computed that replace others, which die slice by slice
};

/// Counts the stacks that it removes.
Result<PassResult> make_in_loops(Module& module, const Target& target, MadeInLoops what);

}  // namespace lowtide::engine
