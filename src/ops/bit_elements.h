#pragma once
/// Nodes that reinterpret the bits of elements as another type.

#include "ops/element.h"

namespace lowtide::engine {

/// The element of `type` that consists of the bits of these parts, lowest part first: one part of the same width, or
/// several narrower ones.
NodeId joined_bits(NestBuilder& nest, std::span<const NodeId> parts, ElementType type);

/// Part number `part` of a wider element's bits, counted from the lowest, reinterpreted as `type`.
NodeId part_of_bits(NestBuilder& nest, NodeId whole, const Affine& part, ElementType type);

}  // namespace lowtide::engine
