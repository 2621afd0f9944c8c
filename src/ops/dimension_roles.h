#pragma once
/// How the dimensions of an operation's operands and results correspond, which decides what a region may slice.

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

enum class DimensionRole : uint8_t {
  kPointwise,  ///< result slice c needs only operand slice stride * c + offset
  kWindowed,   ///< result slice c needs operand slices stride * c + offset ... stride * c + offset + reach
  kBlocked,    ///< block c of `result_block` result slices needs only block c of `block` operand slices
  kReduced,    ///< every result element needs all slices, folded one by one
  kOpaque,     ///< needs whole lines, or slices at computed positions
};

/// One dimension of an operand.
struct OperandDimension {
  DimensionRole role = DimensionRole::kOpaque;
  int64_t result_dimension = -1;  ///< of kPointwise, kWindowed and kBlocked
  int64_t stride = 1, offset = 0;
  int64_t reach = 0;                    ///< of kWindowed: the number of slices after the first
  int64_t block = 1, result_block = 1;  ///< of kBlocked
  int64_t fold = -1;  ///< of kReduced: dimensions of different operands with the same number are folded together

  /// Does result slice c need just operand slice c?
  bool is_in_step() const { return role == DimensionRole::kPointwise && stride == 1 && offset == 0; }
};

/// The extents of an instruction's result: of its array, or of all its arrays (as in sort, top-k and reductions of
/// pairs) if they are equal; null if they differ.
const Shape* common_extents(const Instruction& i);

/// The role of each dimension of operand number `operand`, by the operation's rule; empty if the operand is no array.
/// If no role names a result dimension, the operand lacks it: each slice along it reads the same operand elements.
std::vector<OperandDimension> operand_roles(const Instruction& instruction, size_t operand);

// Helpers for the operations' rules.

OperandDimension pointwise(int64_t result_dimension, int64_t stride = 1, int64_t offset = 0);
OperandDimension blocked(int64_t result_dimension, int64_t block, int64_t result_block);
OperandDimension reduced(int64_t fold);
/// Dimension w of a window, with the base not dilated; opaque if it is, as a dilated base has no fixed step.
OperandDimension under_window(const Window& window, size_t w, int64_t result_dimension);

/// All dimensions are opaque.
std::vector<OperandDimension> opaque_dimensions(const Instruction& instruction, size_t operand);
/// Operand dimension d is result dimension d if their extents are equal; all are opaque if the ranks differ.
std::vector<OperandDimension> same_dimensions(const Instruction& instruction, size_t operand);
/// For a result with the same elements in row-major order: the dimensions that both have, i.e. whose leading and
/// trailing extents have equal products on both sides, are pointwise; the outermost ones of those that are merged or
/// split are blocked.
std::vector<OperandDimension> regrouped_dimensions(const Instruction& instruction, size_t operand);
/// Like same_dimensions, except that the `inner` innermost dimensions, which are lines or matrices, are opaque.
std::vector<OperandDimension> batch_dimensions(const Instruction& instruction, size_t operand, size_t inner);

}  // namespace lowtide::engine
