#pragma once
/// How the slices of a result along one dimension, its rows, are computed from rows of the operands: at which offset,
/// and how many.

#include <cstdint>
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

struct RowRange {
  int64_t begin = 0, end = 0;
};

/// The rows that `rows` read of an operand with `extent` rows; extent -1: unlimited.
RowRange rows_read(const RowRead& read, RowRange rows, int64_t extent);

/// A piece that reads nothing yet.
RowPiece row_piece(const Instruction& instruction, int64_t begin, int64_t end, RowPiece::Kind kind, size_t source = 0);
/// Do two arrays have the same extents but along d?
bool same_beside(const Shape& a, const Shape& b, int64_t d);

/// Rows along d, over which a window moves, of an operation whose second operand every window reads whole.
std::optional<std::vector<RowPiece>> rows_under_windows(const Instruction& instruction, int64_t d);
/// Pads dimension w of a window, which moves along the operand's rows, for the rows that are made.
void clip_window(const Instruction& original, const RowPiece& piece, RowRange rows, bool at_edges, Window& window,
                 size_t w);

}  // namespace lowtide::engine
