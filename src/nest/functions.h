#pragma once
/// Functions that reductions combine their accumulators with.

#include "nest/nest.h"

namespace lowtide::engine {

/// Combines `first` accumulators as `a` does, and `second` ones behind them as `b` does.
std::shared_ptr<const Function> combine_apart(const Function& a, const Function& b, int32_t first, int32_t second);

}  // namespace lowtide::engine
