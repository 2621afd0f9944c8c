#pragma once
/// Does a program that was made to fit still compute the same?

#include <string>

#include "compile/compile.h"

namespace lowtide {

/// Runs the program as given and as fitted on seeded arguments, and compares all results. As given: by the definitions
/// of its operations where that is quick, otherwise compiled without streams. Returns a sentence on what was compared,
/// or why nothing was. A fault of kind kWrongValues names the first decision with which the results differ.
Result<std::string> check_fit(const Module& module, const Compiled& fitted);

}  // namespace lowtide
