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

/// For each dimension of operand number `operand` (an array; empty for others), its role. A result dimension that none
/// of them names is absent from the operand: each of its slices reads the operand anew.
std::vector<OperandDimension> operand_roles(const Instruction& instruction, size_t operand);

/// Can the result be made slice by slice along dimension d, each slice by itself? Not along a sorted or scanned line.
bool can_slice_result(const Instruction& instruction, int64_t d);

}  // namespace lowtide::engine
