#pragma once
/// What has neither code nor library runs by its definition: slowly, one whole operation at a time, in memory of its
/// own that is declared as scratch.

#include <memory>

#include "library/library.h"

namespace lowtide::engine {

/// Null where the interpreter can't run it either.
std::unique_ptr<LibraryRoutine> interpreted_routine(const Instruction& instruction);

}  // namespace lowtide::engine
