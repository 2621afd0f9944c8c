#pragma once
/// Operations whose result is known, or cheaper made otherwise, whatever their operands are.

#include "nest/builder.h"

namespace lowtide::engine {

/// Of floats: an operand that the operation leaves as it is.
std::optional<NodeId> simplified_number(NestBuilder& nest, const Node& operation);

/// Of integers: the same sum (product, ...) with what is known outside of a loop put together there.
std::optional<NodeId> regrouped(NestBuilder& nest, const Node& operation);

}  // namespace lowtide::engine
