#pragma once
/// Dimension numbers of dot, ragged-dot and scaled-dot, and their constraints.

#include "ops/attribute_text.h"
#include "ops/checks.h"

namespace lowtide::engine {

Status read_dot(AttributeReader& reader, Instruction& dot);
void print_dot(const Instruction& dot, AttributeWriter& writer);

/// Checks (C2) of these operations.
Status check_dot_dims(const Instruction& dot, const Shape& lhs, const Shape& rhs);
/// Checks that both sides have equally many dimensions, of equal extents; `what` is "batch" or "contracting".
Status check_paired_extents(const Instruction& dot, const Shape& lhs, const Shape& rhs, const Dims& lhs_dims,
                            const Dims& rhs_dims, std::string_view what, int constraint);

/// An operand's dimensions that are neither contracting nor batch dimensions, in order.
Dims free_dims(int64_t rank, const Dims& contracting, const Dims& batch);
/// The extents of the batch dimensions, the free lhs and the free rhs dimensions.
Dims dot_result_dims(const DotAttributes& attributes, const Shape& lhs, const Shape& rhs);

/// Is the third operand added to the products?
bool has_addend(const Instruction& dot);

/// The product of two arrays of the result's element type, added to `begin` if given. Defined in dot.cpp.
void contract(const Literal& lhs, const Literal& rhs, const DotAttributes& attributes, Literal& result,
              const Literal* begin = nullptr);

}  // namespace lowtide::engine
