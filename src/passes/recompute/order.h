#pragma once
/// Quickly finds an instruction order in which few bytes are live: good enough to decide what is kept for which reader.

#include "ir/module.h"

namespace lowtide::engine {

/// Puts the computation into the best of these orders: the current one, depth first, and both with work that frees at
/// least as much as it allocates moved to where it is first ready, such as the gradient of a weight after that of its
/// layer, or that of a weight and that of its bias, of which neither frees anything alone.
void put_in_good_order(Computation& computation);

}  // namespace lowtide::engine
