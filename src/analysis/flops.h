#pragma once
/// Operations on numbers that a run takes, as the "flops" of XLA's cost analysis.

#include "ir/module.h"

namespace lowtide::engine {

/// One for each element of an elementwise operation and for each that is folded, two for each term of a product; bodies
/// of loops as often as they run, of branches the dearer one. Sines and the like count as any other, where XLA counts
/// them apart; routines of LAPACK's count as nothing, as there.
double flops_of(const Module& module);

}  // namespace lowtide::engine
