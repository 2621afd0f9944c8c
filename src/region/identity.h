#pragma once
/// Identifies regions that are lowered to the same nest, independent of names.

#include <string>

#include "region/region.h"

namespace lowtide::engine {

/// Equal texts: the same operations on inputs of the same shapes, in the same places.
std::string identity(const Region& region);

}  // namespace lowtide::engine
