#pragma once
/// Whether a program is one at all, and its memory what its module gives it: places, what may be written.

#include <string>

#include "schedule/program.h"

namespace lowtide::engine {

/// Empty, or what is wrong: a step with other operands than its kind has, or slots that there are not.
std::string form_fault(const Program& program);

/// Empty, or what is wrong: a storage outside of the arena, a slot outside of its storage, an argument that is taken
/// for donated, a constant with other contents, a smaller peak than it has.
std::string memory_fault(const Program& program);

}  // namespace lowtide::engine
