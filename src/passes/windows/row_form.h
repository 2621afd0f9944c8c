#pragma once
/// How all rows of a result are computed from rows of the operands.

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/rows.h"

namespace lowtide::engine {

struct RowForm {
  std::vector<RowPiece> pieces;  ///< in order, none empty; together all rows
  size_t main = 0;               ///< the longest
  const RowPiece& main_piece() const { return pieces[main]; }
};

/// nullopt: this doesn't describe the form of the rows.
std::optional<RowForm> row_form(const Instruction& i, int64_t d);

/// The attributes of an instruction that computes some rows of a piece with the original operation. `at_edges`: windows
/// may reach past the edges of their operands; else `rows` may be relative to any row.
void adapt_to_rows(const Instruction& original, const RowPiece& piece, int64_t d, RowRange rows, bool at_edges,
                   Attributes& attributes);

}  // namespace lowtide::engine
