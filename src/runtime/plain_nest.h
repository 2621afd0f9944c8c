#pragma once
/// From a nest to what code is made of, whoever makes it.

#include "ir/module.h"
#include "nest/nest.h"

namespace lowtide::engine {

/// Legal (nest/legalise.h), and functions of few values read off tables (ops/tabulate.h). What the module and its
/// context decide of that beside the nest (sums in order, products contracted, tables) stands in the text of the result
/// then, by which kernels are found.
Nest plain_nest(const Nest& nest, const Module& module);

}  // namespace lowtide::engine
