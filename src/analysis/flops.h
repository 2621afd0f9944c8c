#pragma once
/// The arithmetic operations of a run, like "flops" in XLA's cost analysis.

#include "ir/module.h"

namespace lowtide::engine {

/// Counts one for each element of an elementwise operation and for each folded element, two for each term of a product;
/// loop bodies as often as they run, and the most expensive branch. Transcendental functions count like other
/// operations, while XLA counts them separately; LAPACK routines count zero, as in XLA.
double flops_of(const Module& module);

}  // namespace lowtide::engine
