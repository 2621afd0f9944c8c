#pragma once
/// The single steps of shrink(): each simplifies a module, and returns whether it changed anything. Instructions are
/// named by their positions, which are the same in a clone.

#include "ir/module.h"

namespace lowtide::engine {

struct Position {
  size_t computation = 0, instruction = 0;
};

/// Drops layouts, metadata, shardings, aliases and everything else that doesn't affect the computation.
bool drop_descriptions(Module& module);
/// Drops elements [begin, end) of the root's tuple.
bool drop_results(Module& module, size_t begin, size_t end);
/// Makes this instruction the entry's root.
bool make_root(Module& module, Position position);
/// Replaces instructions [begin, end) of a computation by arguments (in the entry) or zeros.
bool cut_off(Module& module, Position begin, size_t end);
/// Makes readers of the instruction read its operand instead, which must have the same shape.
bool bypass(Module& module, Position position, size_t operand);
/// Halves a scalar integer constant above one, such as a trip count or an index.
bool halve(Module& module, Position position);
/// Drops unused arguments.
bool drop_arguments(Module& module);

}  // namespace lowtide::engine
