#pragma once
/// How the slices of a result along one dimension, its rows, are computed from rows of the operands: at which offset,
/// and how many.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

struct RowRead {
  static constexpr int64_t kWhole = -1, kUnread = -2;
  int64_t dimension = kUnread;   ///< of the operand
  int64_t shift = 0, reach = 0;  ///< rows [p, q) need rows [p + shift, q + shift + reach), as far as there are such
};

/// Rows that are computed in the same way.
struct RowPiece {
  enum class Kind : uint8_t {
    kMade,    ///< by the operation itself, on fewer rows
    kSame,    ///< the rows of operand `source`
    kFilled,  ///< with the scalar that is operand `source`
  };
  int64_t begin = 0, end = 0;
  Kind kind = Kind::kMade;
  size_t source = 0;
  std::vector<RowRead> reads;  ///< per operand
};

struct RowForm {
  std::vector<RowPiece> pieces;  ///< in order, none empty; together all rows
  size_t main = 0;               ///< the longest
  const RowPiece& main_piece() const { return pieces[main]; }
};

/// nullopt: rows have a form that this doesn't describe.
std::optional<RowForm> row_form(const Instruction& i, int64_t d);

/// The rows that `rows` read of an operand with `extent` rows; extent -1: unlimited.
struct RowRange {
  int64_t begin = 0, end = 0;
};
RowRange rows_read(const RowRead& read, RowRange rows, int64_t extent);

/// The attributes of an instruction that makes some rows of a piece by the operation itself. `at_edges`: windows may
/// reach over the edge of what they read; else `rows` may count from anywhere.
void adapt_to_rows(const Instruction& original, const RowPiece& piece, int64_t d, RowRange rows, bool at_edges,
                   Attributes& attributes);

}  // namespace lowtide::engine
