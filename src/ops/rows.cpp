#include "ops/rows.h"

#include <algorithm>

#include "ops/dimension_roles.h"

namespace lowtide::engine {

RowRange rows_read(const RowRead& read, RowRange rows, int64_t extent) {
  RowRange range{rows.begin + read.shift, rows.end + read.shift + read.reach};
  if (extent >= 0) range = {std::max<int64_t>(range.begin, 0), std::min(range.end, extent)};
  return range;
}

RowPiece row_piece(const Instruction& instruction, int64_t begin, int64_t end, RowPiece::Kind kind, size_t source) {
  return {begin, end, kind, source, std::vector<RowRead>(instruction.operands.size())};
}

bool same_beside(const Shape& a, const Shape& b, int64_t d) {
  for (size_t k = 0; k < a.dims.size(); ++k) {
    if (k != static_cast<size_t>(d) && a.dims[k] != b.dims[k]) return false;
  }
  return true;
}

std::optional<std::vector<RowPiece>> rows_under_windows(const Instruction& instruction, int64_t d) {
  if (instruction.operands.size() != 2) return std::vector<RowPiece>();
  const std::vector<OperandDimension> roles = operand_roles(instruction, 0);
  const auto along = std::ranges::find_if(roles, [&](const OperandDimension& r) {
    return r.result_dimension == d && (r.role == DimensionRole::kPointwise || r.role == DimensionRole::kWindowed);
  });
  if (along == roles.end() || along->stride != 1) return std::nullopt;
  const int64_t j = along - roles.begin(), rows = instruction.shape.dims[d];
  const int64_t extent = instruction.operand(0).shape.dims[j];
  if (along->offset == 0 && along->reach == 0 && extent == rows) return std::vector<RowPiece>();
  // Only if every window covers at least one row.
  if (along->offset + along->reach < 0 || rows - 1 + along->offset >= extent) return std::nullopt;
  const int64_t begin = std::clamp<int64_t>(-along->offset, 0, rows);
  const int64_t end = std::clamp<int64_t>(extent - along->offset - along->reach, begin, rows);
  std::vector<RowPiece> pieces;
  for (const auto& [from, to] : {std::pair{int64_t{0}, begin}, std::pair{begin, end}, std::pair{end, rows}}) {
    if (from == to) continue;
    pieces.push_back(row_piece(instruction, from, to, RowPiece::Kind::kMade));
    pieces.back().reads[0] = {.dimension = j, .shift = along->offset, .reach = along->reach};
    pieces.back().reads[1] = {.dimension = RowRead::kWhole};
  }
  return pieces;
}

void clip_window(const Instruction& original, const RowPiece& piece, RowRange rows, bool at_edges, Window& window,
                 size_t w) {
  const RowRead& read = piece.reads[0];
  if (window.size[w] == 1 && read.shift == 0 && read.reach == 0) return;
  const int64_t extent = original.operand(0).shape.dims[read.dimension];
  const RowRange all = rows_read(read, rows, -1), there = rows_read(read, rows, at_edges ? extent : -1);
  window.pad_low[w] = there.begin - all.begin;
  window.pad_high[w] = all.end - there.end;
}

}  // namespace lowtide::engine
