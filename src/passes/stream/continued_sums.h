#pragma once
/// Sums of a stream that begin where another one ends, such as the gradient of a tied embedding: what a scatter adds to
/// the product of the last layer. In one pass both have one accumulator, to which each tile adds its terms of both.

#include "passes/stream/cluster.h"

namespace lowtide::engine {

/// Does the member begin, with what it reads as number `read`, where another member's sum ends that nothing else reads,
/// and may terms of the two be added alternately? In exact programs only if that gives the same sum.
bool goes_on(const ValueGraph& graph, const StreamCluster& cluster, int32_t place, size_t read);

/// StreamCluster::added_into, when passes are known.
std::map<GraphLeaf, GraphLeaf> continued_sums(const ValueGraph& graph, const StreamCluster& cluster);

/// The type in which a fold's terms are added, or those of an element of a loop's state: sums of products, and sums
/// within loops, are kept as precise as in a single product.
ElementType type_of_sums(const Instruction& folded, const Shape& sums);

}  // namespace lowtide::engine
