#pragma once
/// A program as text, for people and for comparing the plans of two builds: equal texts mean equal programs.

#include <string>

#include "schedule/program.h"

namespace lowtide::engine {

/// Sizes, then storages, slots, arguments and results by slot, steps with regions as region/text.h has them, and the
/// timeline with the live bytes at each of its steps.
std::string print_program(const Program& program);

}  // namespace lowtide::engine
