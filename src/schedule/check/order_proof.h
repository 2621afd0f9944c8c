#pragma once
/// A proof that a program may run in every order that its dependencies (ProgramStep::after) allow: any two conflicting
/// steps are ordered by dependencies as in their block. The bytes that steps touch are determined independently here,
/// byte by byte instead of step by step.

#include <string>

#include "schedule/program.h"

namespace lowtide::engine {

/// Empty, or two conflicting steps that no path of dependencies orders, or an invalid dependency. Only for a program
/// that check_program() has accepted.
std::string fault_of_order(const Program& program);

}  // namespace lowtide::engine
