#pragma once
/// A rough estimate of the interpreter's time, to decide what can be checked against it.

#include "ir/module.h"

namespace lowtide::engine {

/// Loops with an unknown trip count count as a few.
double interpreted_ns(const Module& module);

}  // namespace lowtide::engine
