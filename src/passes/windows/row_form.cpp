#include "passes/windows/row_form.h"

#include "ops/op_rule.h"
#include "passes/stream/walk.h"

namespace lowtide::engine {
namespace {

const RowRule& rule_of_rows(const Instruction& i) { return rule_of(i.opcode).slicing.rows; }

/// A piece of all rows, each computed from operand rows of the same number and from whole operands.
RowPiece made_in_step(const Instruction& i, int64_t d) {
  RowPiece piece = row_piece(i, 0, i.shape.dims[d], RowPiece::Kind::kMade);
  for (size_t k = 0; k < i.operands.size(); ++k) {
    int64_t j = 0;
    const bool walks = operand_in_step(i, k, d, j) == InStep::kYes;
    piece.reads[k] = {.dimension = walks ? j : RowRead::kWhole};
  }
  return piece;
}

}  // namespace

std::optional<RowForm> row_form(const Instruction& i, int64_t d) {
  const bool plain = i.shape.is_array() && i.shape.dynamic.empty() && i.control_predecessors.empty();
  if (!plain || d < 0 || d >= i.shape.rank() || i.shape.dims[d] == 0) return std::nullopt;
  std::optional<std::vector<RowPiece>> pieces = rule_of_rows(i).pieces.value(i, d);
  if (!pieces) return std::nullopt;
  if (pieces->empty()) {
    if (!can_be_made_by_slices(i, d) || has_positions(i, d)) return std::nullopt;
    pieces->push_back(made_in_step(i, d));
  }
  RowForm form{.pieces = std::move(*pieces)};
  for (size_t k = 0; k < form.pieces.size(); ++k) {
    const auto length = [&](size_t p) { return form.pieces[p].end - form.pieces[p].begin; };
    if (length(k) > length(form.main)) form.main = k;
  }
  return form;
}

void adapt_to_rows(const Instruction& original, const RowPiece& piece, int64_t d, RowRange rows, bool at_edges,
                   Attributes& attributes) {
  adapt_to_slice(original, d, rows.end - rows.begin, attributes);
  rule_of_rows(original).adapt.value(original, piece, d, rows, at_edges, attributes);
}

}  // namespace lowtide::engine
