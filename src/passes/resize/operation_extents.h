#pragma once
/// The relations that one operation imposes on the extents of its operands and results.

#include "passes/resize/extents.h"

namespace lowtide::engine {

void relate_operation(const Instruction& i, ModuleExtents& extents);

/// Those of sliding windows: convolution, reduce-window, select-and-scatter (window_extents.cpp).
void relate_windows(const Instruction& i, ModuleExtents& extents);

}  // namespace lowtide::engine
