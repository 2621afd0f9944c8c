#include "passes/windows/row_maker.h"

namespace lowtide::engine {

Instruction* make_rows(SliceWriter& writer, const Instruction& original, const RowPiece& piece, int64_t d,
                       RowRange rows, const RowSource& source) {
  const Shape shape = slices_shape(original.shape, d, rows.end - rows.begin);
  if (piece.kind == RowPiece::Kind::kSame) {
    return source.rows(original, piece.source, piece.reads[piece.source], rows);
  }
  if (piece.kind == RowPiece::Kind::kFilled) {
    Instruction* value = source.whole(original, piece.source);
    return writer.append(Opcode::kBroadcast, shape, {value}, DimensionsAttributes{});
  }
  std::vector<Instruction*> operands;
  for (size_t k = 0; k < piece.reads.size(); ++k) {
    const RowRead& read = piece.reads[k];
    operands.push_back(read.dimension < 0 ? source.whole(original, k) : source.rows(original, k, read, rows));
  }
  Attributes attributes = original.attributes;
  adapt_to_rows(original, piece, d, rows, source.first == nullptr, attributes);
  auto copy = copy_of(original);
  copy->operands = std::move(operands);
  copy->shape = shape;
  copy->attributes = std::move(attributes);
  Instruction* made = writer.append(std::move(copy));
  if (!has_positions(original, d)) return made;
  Instruction* from = writer.integer(rows.begin);
  if (source.first != nullptr) {
    from = writer.append(Opcode::kAdd, Shape::scalar(ElementType::kS32), {from, source.first}, {});
  }
  return count_result_from(original, d, made, from, writer.appender());
}

}  // namespace lowtide::engine
