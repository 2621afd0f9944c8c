#pragma once
/// Whether a program's memory is what its module gives it: places, sizes, what may be written.

#include <string>

#include "schedule/program.h"

namespace lowtide {

/// Empty, or what is wrong: a storage outside of the arena, a slot outside of its storage, an argument that is taken
/// for donated, a constant with other contents.
std::string memory_fault(const Program& program);

}  // namespace lowtide
