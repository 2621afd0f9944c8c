#pragma once
/// Removes what isn't needed from a nest: nodes and loops that feed no store. The rest is renumbered in order.

#include "nest/nest.h"

namespace lowtide::engine {

Nest without_dead_parts(Nest nest);

}  // namespace lowtide::engine
