#pragma once
/// Prints how large a dimension may be. The struct is the public one.

#include <string>

#include "lowtide/largest_extent.h"

namespace lowtide::engine {

std::string largest_extent_text(const LargestExtent& found, bool utf8);
std::string largest_extent_json(const LargestExtent& found);

}  // namespace lowtide::engine
