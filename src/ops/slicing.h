#pragma once
/// How an operation is computed slice by slice along a dimension of its result, or folds an operand slice by slice, for
/// streams, stencils and resizing. No member has a default: a rule that omits one doesn't compile.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

struct OperandDimension;  // ops/dimension_roles.h
struct RowPiece;          // ops/rows.h
struct RowRange;

/// A value that must be given.
template <class T>
struct Stated {
  constexpr Stated(T given) : value(given) {}     // NOLINT(google-explicit-constructor): reads as the value itself
  constexpr operator T() const { return value; }  // NOLINT(google-explicit-constructor)
  T value;
};

/// Does the operation, applied to slices of its operands, compute slices of its result?
enum class Sliceable : uint8_t {
  kNever,
  kInStep,  ///< along a dimension for which an operand is read slice by slice
  kAlways,  ///< also along a dimension that no operand has, like the new ones of a broadcast
};

/// Which operands may every slice of the result read whole?
enum class ReadWhole : uint8_t {
  kScalars,
  kSecond,  ///< only the second: weights, indices
  kAny,
};

/// Elements that are positions along the sliced dimension. In slices they count from the first of them.
struct Positions {
  static constexpr int64_t kResult = -1;
  int64_t operand = kResult;  ///< whose elements they are
  int64_t vectors = -1;       ///< the dimension of vectors of which one entry is a position; -1: all elements are
  int64_t entry = 0;
};

/// Rows are slices that may be computed from operand rows with other numbers.
struct RowRule {
  /// The pieces of the rows along dimension d, in order, none empty. No pieces: each row is computed from operand rows
  /// of the same number. nullopt: pieces can't describe the rows. The result must be an array with a row at least.
  Stated<std::optional<std::vector<RowPiece>> (*)(const Instruction&, int64_t d)> pieces;
  /// Adapts the attributes of an instruction that computes `rows` of a piece by the operation itself. `at_edges`:
  /// windows may reach over the edge of the array they read; otherwise `rows` may be counted from any row.
  Stated<void (*)(const Instruction& original, const RowPiece&, int64_t d, RowRange rows, bool at_edges, Attributes&)>
      adapt;
};

struct Slicing {
  /// The role of each dimension of operand number `operand`, which is an array.
  Stated<std::vector<OperandDimension> (*)(const Instruction&, size_t operand)> roles;
  Stated<Sliceable> sliceable;
  Stated<ReadWhole> whole;
  /// Adapts the attributes of an instruction that computes `size` slices along d of the result of `original`.
  Stated<void (*)(const Instruction& original, int64_t d, int64_t size, Attributes&)> adapt;
  /// Can slices along d, a dimension of an operand that is reduced or picked from (ops/picks.h), be folded one by one
  /// into one result?
  Stated<bool (*)(const Instruction&, size_t operand, int64_t d)> folds;
  /// Which elements are positions along dimension d of the result? Where there are any, every slice reads operands that
  /// lack the dimension whole.
  Stated<std::optional<Positions> (*)(const Instruction&, int64_t d)> positions;
  RowRule rows;
};

/// For attributes that don't depend on extents.
void keep_attributes(const Instruction& original, int64_t d, int64_t size, Attributes& attributes);
void keep_row_attributes(const Instruction& original, const RowPiece& piece, int64_t d, RowRange rows, bool at_edges,
                         Attributes& attributes);
bool never_folds(const Instruction& instruction, size_t operand, int64_t d);
std::optional<Positions> no_positions(const Instruction& instruction, int64_t d);
std::optional<std::vector<RowPiece>> rows_in_step(const Instruction& instruction, int64_t d);
std::vector<OperandDimension> opaque_dimensions(const Instruction& instruction, size_t operand);
std::vector<OperandDimension> same_dimensions(const Instruction& instruction, size_t operand);

inline constexpr RowRule kRowsInStep{.pieces = rows_in_step, .adapt = keep_row_attributes};

/// The operation computes slices of its result from slices of its operands; nothing else needs adapting.
constexpr Slicing sliced_in_step(std::vector<OperandDimension> (*roles)(const Instruction&, size_t)) {
  return {.roles = roles,
          .sliceable = Sliceable::kInStep,
          .whole = ReadWhole::kScalars,
          .adapt = keep_attributes,
          .folds = never_folds,
          .positions = no_positions,
          .rows = kRowsInStep};
}

/// Dimensions correspond, but the operation isn't computed slice by slice.
constexpr Slicing not_sliced(std::vector<OperandDimension> (*roles)(const Instruction&, size_t)) {
  Slicing slicing = sliced_in_step(roles);
  slicing.sliceable = Sliceable::kNever;
  return slicing;
}

inline constexpr Slicing kSlicedByElement = sliced_in_step(same_dimensions);
inline constexpr Slicing kNotSliced = not_sliced(opaque_dimensions);

}  // namespace lowtide::engine
