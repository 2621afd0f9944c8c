#pragma once
/// How an operation is made slice by slice along a dimension of its result, or folds an operand slice by slice: what
/// streams, stencils and resizing must know of it. Nothing here has a default: a row that leaves something out doesn't
/// compile.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

struct OperandDimension;  // ops/dimension_roles.h
struct RowPiece;          // ops/rows.h
struct RowRange;

/// A value that has to be given.
template <class T>
struct Stated {
  constexpr Stated(T given) : value(given) {}     // NOLINT(google-explicit-constructor): reads as the value itself
  constexpr operator T() const { return value; }  // NOLINT(google-explicit-constructor)
  T value;
};

/// Does the operation itself, applied to slices of its operands, make slices of its result?
enum class Sliceable : uint8_t {
  kNever,
  kInStep,  ///< along a dimension in which an operand is read in step
  kAlways,  ///< also along one that no operand has, as those of a broadcast
};

/// Which operands may every slice of the result read whole?
enum class ReadWhole : uint8_t {
  kScalars,
  kSecond,  ///< the second, and no other: weights, indices
  kAny,
};

/// Rows are slices that may be made of other rows than those of the same number.
struct RowRule {
  /// What the rows along dimension d are made of, in order and none empty. Without any piece: all of them of rows in
  /// step. nullopt: in a form that pieces don't describe. The result is an array with at least one row.
  Stated<std::optional<std::vector<RowPiece>> (*)(const Instruction&, int64_t d)> pieces;
  /// Adapts the attributes of an instruction that makes `rows` of a piece by the operation itself. `at_edges`: windows
  /// may reach over the edge of what they read; else `rows` may count from anywhere.
  Stated<void (*)(const Instruction& original, const RowPiece&, int64_t d, RowRange rows, bool at_edges, Attributes&)>
      adapt;
};

struct Slicing {
  /// For each dimension of operand number `operand`, an array, its role.
  Stated<std::vector<OperandDimension> (*)(const Instruction&, size_t operand)> roles;
  Stated<Sliceable> sliceable;
  Stated<ReadWhole> whole;
  /// Adapts the attributes of an instruction that makes `size` slices along d of what `original` makes.
  Stated<void (*)(const Instruction& original, int64_t d, int64_t size, Attributes&)> adapt;
  /// Can slices along d, a reduced dimension of an operand, be folded one after the other into one result?
  Stated<bool (*)(const Instruction&, size_t operand, int64_t d)> folds;
  RowRule rows;
};

/// Attributes say nothing of extents.
void keep_attributes(const Instruction& original, int64_t d, int64_t size, Attributes& attributes);
void keep_row_attributes(const Instruction& original, const RowPiece& piece, int64_t d, RowRange rows, bool at_edges,
                         Attributes& attributes);
bool never_folds(const Instruction& instruction, size_t operand, int64_t d);
std::optional<std::vector<RowPiece>> rows_in_step(const Instruction& instruction, int64_t d);
std::vector<OperandDimension> opaque_dimensions(const Instruction& instruction, size_t operand);
std::vector<OperandDimension> same_dimensions(const Instruction& instruction, size_t operand);

inline constexpr RowRule kRowsInStep{.pieces = rows_in_step, .adapt = keep_row_attributes};

/// Slices of the result are made by the operation from slices of its operands, without anything else to say.
constexpr Slicing sliced_in_step(std::vector<OperandDimension> (*roles)(const Instruction&, size_t)) {
  return {.roles = roles,
          .sliceable = Sliceable::kInStep,
          .whole = ReadWhole::kScalars,
          .adapt = keep_attributes,
          .folds = never_folds,
          .rows = kRowsInStep};
}

/// Dimensions correspond, but nothing is made by slices.
constexpr Slicing not_sliced(std::vector<OperandDimension> (*roles)(const Instruction&, size_t)) {
  Slicing slicing = sliced_in_step(roles);
  slicing.sliceable = Sliceable::kNever;
  return slicing;
}

inline constexpr Slicing kSlicedByElement = sliced_in_step(same_dimensions);
inline constexpr Slicing kNotSliced = not_sliced(opaque_dimensions);

}  // namespace lowtide::engine
