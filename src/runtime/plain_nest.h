#pragma once
/// Converts a nest to the form from which any backend generates code.

#include "ir/module.h"
#include "nest/nest.h"

namespace lowtide::engine {

/// The result is legal (nest/legalise.h), and functions with few possible operand values use tables (ops/tabulate.h).
/// The choices of the module and its context (sums in order, contracted products, tables) thus appear in the result's
/// text, the key of kernels.
Nest plain_nest(const Nest& nest, const Module& module);

}  // namespace lowtide::engine
