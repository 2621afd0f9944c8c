#pragma once
/// A proof that a program may run in every order that its dependencies (ProgramStep::after) allow: whoever starts a
/// step as soon as those are complete runs each two steps that conflict in the order of their block. Which bytes steps
/// touch is found here once more, byte by byte instead of step by step as the plan's dependencies were.

#include <string>

#include "schedule/program.h"

namespace lowtide::engine {

/// Empty, or two steps in conflict that no path of dependencies orders, or a dependency that is none. Of a program that
/// check_program() has accepted.
std::string fault_of_order(const Program& program);

}  // namespace lowtide::engine
