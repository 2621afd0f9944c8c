#pragma once
/// Random programs through what `fit --check` does, at random limits.

#include <string>

#include "ir/module.h"

namespace lowtide::engine {

/// Empty, or what is wrong. The program is made large enough for something to be left to save; then a limit is drawn
/// between its tightest and its fastest plan, and the plan for it is checked, one in four on a small instantiation.
std::string limits_fault(const Module& module);

/// The same with every sum in its order: each plan of the frontier, run, must give the bits of the plan without
/// streams, signs of zeros aside.
std::string exact_fault(const Module& module);

}  // namespace lowtide::engine
