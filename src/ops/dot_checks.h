#pragma once
/// What dot, ragged-dot and scaled-dot share: dimension numbers and their constraints.

#include "ops/attribute_text.h"
#include "ops/checks.h"

namespace lowtide::engine {

Status read_dot(AttributeReader& reader, Instruction& dot);
void print_dot(const Instruction& dot, AttributeWriter& writer);

/// (C2) of the dot family.
Status check_dot_dims(const Instruction& dot, const Shape& lhs, const Shape& rhs);
/// As many dimensions on both sides, of equal extents; `what` is "batch" or "contracting".
Status check_paired_extents(const Instruction& dot, const Shape& lhs, const Shape& rhs, const Dims& lhs_dims,
                            const Dims& rhs_dims, std::string_view what, int constraint);

/// Dimensions of an operand that are neither contracted nor batch, in order.
Dims free_dims(int64_t rank, const Dims& contracting, const Dims& batch);
/// Extents of batch, free lhs, free rhs dimensions.
Dims dot_result_dims(const DotAttributes& attributes, const Shape& lhs, const Shape& rhs);

/// Is the third operand added to the products?
bool has_addend(const Instruction& dot);

/// The product of two arrays of the result's element type. Defined beside dot.
void contract(const Literal& lhs, const Literal& rhs, const DotAttributes& attributes, Literal& result,
              const Literal* begin = nullptr);

}  // namespace lowtide::engine
