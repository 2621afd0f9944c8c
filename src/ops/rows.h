#pragma once
/// How the slices of a result along one dimension, its rows, are computed from rows of the operands: from how many, at
/// which offset.

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

struct RowRead {
  static constexpr int64_t kWhole = -1, kUnread = -2;
  int64_t dimension = kUnread;   ///< the operand's dimension of rows, kWhole or kUnread
  int64_t shift = 0, reach = 0;  ///< rows [p, q) need the existing rows of [p + shift, q + shift + reach)
};

/// Rows that are computed in the same way.
struct RowPiece {
  enum class Kind : uint8_t {
    kMade,    ///< computed by the operation itself, on fewer rows
    kSame,    ///< the rows of operand `source`
    kFilled,  ///< filled with operand `source`, a scalar
  };
  int64_t begin = 0, end = 0;
  Kind kind = Kind::kMade;
  size_t source = 0;
  std::vector<RowRead> reads;  ///< per operand
};

struct RowRange {
  int64_t begin = 0, end = 0;
};

/// The rows of an operand with `extent` rows that are read for `rows` of the result; extent -1: unlimited.
RowRange rows_read(const RowRead& read, RowRange rows, int64_t extent);

/// A piece that reads nothing yet.
RowPiece row_piece(const Instruction& instruction, int64_t begin, int64_t end, RowPiece::Kind kind, size_t source = 0);
/// Do two arrays have the same extents except along d?
bool same_beside(const Shape& a, const Shape& b, int64_t d);

/// The pieces of rows along d, the dimension in which windows move, for an operation whose second operand every window
/// reads whole.
std::optional<std::vector<RowPiece>> rows_under_windows(const Instruction& instruction, int64_t d);
/// Sets the padding of window dimension w, which moves along the operand's rows, for computing `rows`.
void clip_window(const Instruction& original, const RowPiece& piece, RowRange rows, bool at_edges, Window& window,
                 size_t w);

}  // namespace lowtide::engine
