#pragma once
/// Algebraic identities: operations whose result is known, or can be computed more cheaply, for any operands.

#include "nest/builder.h"

namespace lowtide::engine {

/// For floats: the operand that the operation returns unchanged.
std::optional<NodeId> simplified_number(NestBuilder& nest, const Node& operation);

/// For integers: the same sum (product, ...) regrouped so that loop invariants are combined outside of the loop.
std::optional<NodeId> regrouped(NestBuilder& nest, const Node& operation);

}  // namespace lowtide::engine
