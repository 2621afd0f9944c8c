#pragma once
/// Creates the instructions that compute rows of members: those of a tile, and those at the edges.

#include <functional>
#include <string>
#include <vector>

#include "passes/rewrite.h"
#include "passes/windows/row_cluster.h"

namespace lowtide::engine {

/// Appends instructions to a computation.
class Writer {
 public:
  Writer(Computation& computation, Names& names) : computation_(computation), names_(names) {}
  Instruction* append(Opcode opcode, Shape shape, std::vector<Instruction*> operands, Attributes attributes,
                      const std::string& name = "rows");
  Instruction* copy(const Instruction& original, std::vector<Instruction*> operands, Shape shape,
                    Attributes attributes);
  Instruction* integer(int64_t value);  ///< s32
  Instruction* element(Instruction& tuple, int64_t k);
  Instruction* zeros(const Shape& shape);
  /// Rows of an array; the array itself if these are all of them.
  Instruction* rows(Instruction& array, int64_t d, RowRange range);
  Instruction* concatenated(const std::vector<Instruction*>& parts, int64_t d);
  /// Rows of `array` from `start` (s32) on.
  Instruction* dynamic_rows(Instruction& array, int64_t d, Instruction& start, int64_t size);
  Instruction* updated(Instruction& array, Instruction& part, int64_t d, Instruction& start);

 private:
  std::vector<Instruction*> starts(std::vector<Instruction*> operands, int64_t rank, int64_t d, Instruction& start);
  Computation& computation_;
  Names& names_;
};

/// Arrays as their producers return them, not their aliases: a barrier also has other operands, which may be computed
/// later.
class Makers {
 public:
  Makers(Writer& writer, const ValueGraph& graph) : writer_(writer), graph_(graph) {}
  Instruction* of(GraphLeaf array);
  Instruction* of(const Instruction& operand) { return of(array_behind(graph_, operand)); }

 private:
  Writer& writer_;
  const ValueGraph& graph_;
  std::map<GraphLeaf, Instruction*> elements_;
};

Shape plain_shape(const Shape& shape);
Shape rows_shape(const Shape& shape, int64_t d, int64_t rows);

/// Provides the operand rows that an instruction reads.
struct RowSource {
  std::function<Instruction*(const Instruction& reader, size_t operand, const RowRead& read, RowRange rows)> rows;
  std::function<Instruction*(const Instruction& reader, size_t operand)> whole;
  Instruction* first = nullptr;  ///< s32, added to the numbers of all rows; null: rows count from the array's first
};

/// Computes rows of one piece of an instruction from `source`.
Instruction* make_rows(Writer& writer, const Instruction& original, const RowPiece& piece, int64_t d, RowRange rows,
                       const RowSource& source);

}  // namespace lowtide::engine
