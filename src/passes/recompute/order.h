#pragma once
/// An order of a computation's instructions in which little is alive, found quickly: good enough to ask what is kept
/// for whom.

#include "ir/module.h"

namespace lowtide::engine {

/// Puts the computation into the best of these: as it stands, depth first, and both with work that frees no less than
/// it makes moved to where it is first ready, as the gradient of a weight is behind that of its layer.
void put_in_good_order(Computation& computation);

}  // namespace lowtide::engine
