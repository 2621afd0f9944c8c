#pragma once
/// Start indices that a program computes (gather, scatter, dynamic-update-slice), as index arithmetic of nests.

#include "ops/element.h"

namespace lowtide::engine {

/// An index element as s64; a u64 beyond the signed range stays beyond every extent.
Affine index_value(NestBuilder& nest, NodeId index);

/// The same, clamped so that `size` elements from there on are inside `extent`.
Affine clamped_start(NestBuilder& nest, NodeId index, int64_t extent, int64_t size);

/// The start index along dimension d: operand `first` + d.
NodeId start_element(ElementContext& context, const Instruction& instruction, size_t first, size_t d);

/// For gather and scatter: entry `entry` of the index vector at this index of the batch.
NodeId index_vector_element(ElementContext& context, const Instruction& indices, int64_t index_vector_dim,
                            const Index& batch, size_t entry);

}  // namespace lowtide::engine
