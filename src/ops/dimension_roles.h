#pragma once
/// How the dimensions of an operation's operands and results walk together: what a region may slice.

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

enum class DimensionRole : uint8_t {
  kPointwise,  ///< result slice c needs operand slice stride * c + offset alone
  kWindowed,   ///< result slice c needs operand slices stride * c + offset ... stride * c + offset + reach
  kReduced,    ///< every result element needs all slices, folded one by one
  kOpaque,     ///< needs whole lines, or slices at places that are computed
};

/// One dimension of an operand.
struct OperandDimension {
  DimensionRole role = DimensionRole::kOpaque;
  int64_t result_dimension = -1;  ///< of kPointwise and kWindowed
  int64_t stride = 1, offset = 0;
  int64_t reach = 0;  ///< of kWindowed: slices beyond the first
  int64_t fold = -1;  ///< of kReduced: dimensions of different operands with one number are folded in step
};

/// For each dimension of operand number `operand` (an array; empty for others), its role, as the operation's row says.
/// A result dimension that none of them names is absent from the operand: each of its slices reads the operand anew.
std::vector<OperandDimension> operand_roles(const Instruction& instruction, size_t operand);

// What rows say it with.

OperandDimension pointwise(int64_t result_dimension, int64_t stride = 1, int64_t offset = 0);
OperandDimension reduced(int64_t fold);
/// Dimension w of a window over an undilated base; holes leave no fixed step.
OperandDimension under_window(const Window& window, size_t w, int64_t result_dimension);

/// All dimensions are opaque.
std::vector<OperandDimension> opaque_dimensions(const Instruction& instruction, size_t operand);
/// Operand dimension d is result dimension d, as far as their extents are equal; opaque where ranks differ.
std::vector<OperandDimension> same_dimensions(const Instruction& instruction, size_t operand);
/// Of the same elements in row-major order: dimensions that stay, those with equal products of the leading and of the
/// trailing extents on both sides.
std::vector<OperandDimension> regrouped_dimensions(const Instruction& instruction, size_t operand);
/// Same dimensions, but the `inner` innermost dimensions, which are lines or matrices, are opaque.
std::vector<OperandDimension> batch_dimensions(const Instruction& instruction, size_t operand, size_t inner);

}  // namespace lowtide::engine
