#pragma once
/// How long the interpreter takes, roughly: what may be checked against it.

#include "ir/module.h"

namespace lowtide::engine {

/// Loops with an unknown trip count count as a few.
double interpreted_ns(const Module& module);

}  // namespace lowtide::engine
