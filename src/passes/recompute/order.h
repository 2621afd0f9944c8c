#pragma once
/// An order of a computation's instructions in which little is alive, found quickly: good enough to ask what is kept
/// for whom.

#include "ir/module.h"

namespace lowtide::engine {

/// Puts the computation into the best of these orders: the current one, depth first, and both with work that frees at
/// least as much as it allocates moved to where it is first ready, such as the gradient of a weight after that of its
/// layer.
void put_in_good_order(Computation& computation);

}  // namespace lowtide::engine
