#pragma once
/// Checks that a program is well-formed, and that its memory matches its module: places, and what may be written.

#include <string>

#include "schedule/program.h"

namespace lowtide::engine {

/// Empty, or what is wrong: a step whose operands don't fit its kind, or slots that don't exist.
std::string form_fault(const Program& program);

/// Empty, or what is wrong: a storage outside of the arena, a slot outside of its storage, an argument wrongly marked
/// as donated, a constant with other contents, a peak that is too small.
std::string memory_fault(const Program& program);

}  // namespace lowtide::engine
