#pragma once
/// Operations without code or library routine are interpreted: slowly, one whole operation at a time, in additional
/// memory that is declared as scratch.

#include <memory>

#include "library/library.h"

namespace lowtide::engine {

/// Null if the interpreter can't run it either.
std::unique_ptr<LibraryRoutine> interpreted_routine(const Instruction& instruction);

}  // namespace lowtide::engine
