#pragma once
/// Bits of elements read as another type, as nodes.

#include "ops/element.h"

namespace lowtide::engine {

/// The element of `type` whose bits, lowest first, are those of these parts, lowest first: one part of as many bits, or
/// several narrower ones.
NodeId joined_bits(NestBuilder& nest, std::span<const NodeId> parts, ElementType type);

/// Part number `part` of a wider element's bits, read as `type`.
NodeId part_of_bits(NestBuilder& nest, NodeId whole, const Affine& part, ElementType type);

}  // namespace lowtide::engine
