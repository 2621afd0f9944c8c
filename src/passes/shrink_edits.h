#pragma once
/// The single steps of shrink(): each makes a module simpler, and says whether there was anything to do. Instructions
/// are named by their positions, which a clone shares.

#include "ir/module.h"

namespace lowtide::engine {

struct Position {
  size_t computation = 0, instruction = 0;
};

/// Drops layouts, metadata, shardings, aliases and everything else that isn't computation.
bool drop_descriptions(Module& module);
/// The root keeps only elements [begin, end) of its tuple without, or with, those.
bool drop_results(Module& module, size_t begin, size_t end);
/// This instruction becomes the entry's root.
bool make_root(Module& module, Position position);
/// Instructions [begin, end) of a computation become arguments (in the entry) or zeros.
bool cut_off(Module& module, Position begin, size_t end);
/// Readers of the instruction read its operand instead, which has the same shape.
bool bypass(Module& module, Position position, size_t operand);
/// A scalar integer constant above one is halved: trip counts, indices.
bool halve(Module& module, Position position);
/// Drops unused arguments.
bool drop_arguments(Module& module);

}  // namespace lowtide::engine
