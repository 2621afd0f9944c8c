#pragma once
/// Properties of a value as a function of its index, independent of the operations that compute it.
///
/// Reshapes, broadcasts, transposes, copies, exact converts and constants are looked through; answers are never wrong,
/// but may be missing.

#include <optional>
#include <vector>

#include "passes/rules/maker.h"

namespace lowtide::engine {

/// The dimension of a reshape's operand that is dimension `d` of its result: as long, with as many elements before it.
/// -1: none, the reshape merges or splits it.
int64_t dimension_before_reshape(const Instruction& reshape, int64_t d);

/// Consecutive dimensions of a reshape's operand and result that hold the same elements, and contain no smaller group.
struct Regrouped {
  std::vector<size_t> from, to;  ///< without dimensions of one element
  bool is_kept() const { return from.size() == 1 && to.size() == 1; }
  bool is_merged() const { return from.size() > 1 && to.size() == 1; }
  bool is_split() const { return from.size() == 1 && to.size() > 1; }
};
/// In order; none for arrays without elements.
std::vector<Regrouped> regrouped(const Instruction& reshape);

/// For a value with the operand's elements in other places (reshape, transpose, broadcast, copy): the operand's
/// dimension that is dimension `d` of the result; -1: there is none, or it is another operation.
int64_t dimension_of_operand(const Instruction& i, int64_t d);

/// The corresponding slice or dynamic-slice of `value`, which is the slice's operand without its dimension `d`.
Instruction* slice_without_dimension(const Instruction& slice, Instruction* value, int64_t d, Maker& maker);

/// Is element [.., i, ..] = first + i, with i along dimension `d`, for all other indices? Returns the integer `first`.
/// No element wraps around its type.
std::optional<int64_t> counts_along(const Instruction& value, int64_t d);

/// The scalar that all elements are equal to; null if they aren't, or if that is unknown.
Value same_everywhere(const Instruction& value);
/// Are all elements 0; or all 1?
bool is_zero_everywhere(const Instruction& value);
bool is_one_everywhere(const Instruction& value);

/// The value without dimension `d`, along which its elements must not change: null if they may. Without a maker nothing
/// is created, and the result only says whether it is possible.
Instruction* without_dimension(Instruction* value, int64_t d, Maker* maker);

}  // namespace lowtide::engine
