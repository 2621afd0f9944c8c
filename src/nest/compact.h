#pragma once
/// A nest without what nothing needs: nodes and loops that feed no store. What is left is numbered in the order in
/// which it stands.

#include "nest/nest.h"

namespace lowtide::engine {

Nest without_dead_parts(const Nest& nest);

}  // namespace lowtide::engine
