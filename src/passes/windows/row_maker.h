#pragma once
/// Creates the instructions that compute rows of members: those of a tile, and those at the edges.

#include <functional>

#include "passes/stream/slice_writer.h"
#include "passes/windows/row_cluster.h"

namespace lowtide::engine {

/// Provides the operand rows that an instruction reads.
struct RowSource {
  std::function<Instruction*(const Instruction& reader, size_t operand, const RowRead& read, RowRange rows)> rows;
  std::function<Instruction*(const Instruction& reader, size_t operand)> whole;
  Instruction* first = nullptr;  ///< s32, added to the numbers of all rows; null: rows count from the array's first
};

/// Computes rows of one piece of an instruction from `source`.
Instruction* make_rows(SliceWriter& writer, const Instruction& original, const RowPiece& piece, int64_t d,
                       RowRange rows, const RowSource& source);

}  // namespace lowtide::engine
