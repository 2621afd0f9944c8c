#include "passes/windows/row_maker.h"

#include <algorithm>

#include "passes/stream/walk.h"

namespace lowtide::engine {

Shape plain_shape(const Shape& shape) { return Shape::array(shape.type, shape.dims); }

Shape rows_shape(const Shape& shape, int64_t d, int64_t rows) {
  Shape part = plain_shape(shape);
  part.dims[static_cast<size_t>(d)] = rows;
  return part;
}

Instruction* Writer::append(Opcode opcode, Shape shape, std::vector<Instruction*> operands, Attributes attributes,
                            const std::string& name) {
  auto made = std::make_unique<Instruction>();
  made->opcode = opcode;
  made->name = names_.unused(name);
  made->shape = std::move(shape);
  made->operands = std::move(operands);
  made->attributes = std::move(attributes);
  return computation_.append(std::move(made));
}

Instruction* Writer::copy(const Instruction& original, std::vector<Instruction*> operands, Shape shape,
                          Attributes attributes) {
  auto made = copy_of(original);
  made->name = names_.unused(original.name);
  made->operands = std::move(operands);
  made->shape = std::move(shape);
  made->attributes = std::move(attributes);
  return computation_.append(std::move(made));
}

Instruction* Writer::integer(int64_t value) {
  auto literal = std::make_shared<Literal>(Shape::scalar(ElementType::kS32));
  literal->data<int32_t>()[0] = static_cast<int32_t>(value);
  return append(Opcode::kConstant, Shape::scalar(ElementType::kS32), {}, ConstantAttributes{literal});
}

Instruction* Writer::element(Instruction& tuple, int64_t k) {
  return append(Opcode::kGetTupleElement, tuple.shape.elements[static_cast<size_t>(k)], {&tuple},
                TupleIndexAttributes{k});
}

Instruction* Writer::zeros(const Shape& shape) {
  auto zero = std::make_shared<Literal>(Shape::scalar(shape.type));
  Instruction* value = append(Opcode::kConstant, Shape::scalar(shape.type), {}, ConstantAttributes{zero});
  return append(Opcode::kBroadcast, plain_shape(shape), {value}, DimensionsAttributes{});
}

Instruction* Writer::rows(Instruction& array, int64_t d, RowRange range) {
  const auto at = static_cast<size_t>(d);
  if (range.begin == 0 && range.end == array.shape.dims[at]) return &array;
  const Shape shape = rows_shape(array.shape, d, range.end - range.begin);
  SliceAttributes slice{Dims(shape.dims.size(), 0), array.shape.dims, Dims(shape.dims.size(), 1)};
  slice.starts[at] = range.begin;
  slice.limits[at] = range.end;
  return append(Opcode::kSlice, shape, {&array}, std::move(slice));
}

Instruction* Writer::concatenated(const std::vector<Instruction*>& parts, int64_t d) {
  if (parts.size() == 1) return parts[0];
  int64_t rows = 0;
  for (const Instruction* part : parts) rows += part->shape.dims[static_cast<size_t>(d)];
  return append(Opcode::kConcatenate, rows_shape(parts[0]->shape, d, rows), parts, DimensionsAttributes{{d}});
}

std::vector<Instruction*> Writer::starts(std::vector<Instruction*> operands, int64_t rank, int64_t d,
                                         Instruction& start) {
  Instruction* zero = rank > 1 ? integer(0) : nullptr;
  for (int64_t k = 0; k < rank; ++k) operands.push_back(k == d ? &start : zero);
  return operands;
}

Instruction* Writer::dynamic_rows(Instruction& array, int64_t d, Instruction& start, int64_t size) {
  const Shape shape = rows_shape(array.shape, d, size);
  return append(Opcode::kDynamicSlice, shape, starts({&array}, shape.rank(), d, start),
                DynamicSliceAttributes{shape.dims});
}

Instruction* Writer::updated(Instruction& array, Instruction& part, int64_t d, Instruction& start) {
  return append(Opcode::kDynamicUpdateSlice, plain_shape(array.shape),
                starts({&array, &part}, array.shape.rank(), d, start), {});
}

Instruction* Makers::of(GraphLeaf array) {
  auto& maker = const_cast<Instruction&>(graph_.at(array.place));
  if (maker.shape.is_array()) return &maker;
  Instruction*& element = elements_[array];
  if (element == nullptr) element = writer_.element(maker, array.leaf);
  return element;
}

Instruction* make_rows(Writer& writer, const Instruction& original, const RowPiece& piece, int64_t d, RowRange rows,
                       const RowSource& source) {
  const Shape shape = rows_shape(original.shape, d, rows.end - rows.begin);
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
  Instruction* made = writer.copy(original, std::move(operands), shape, std::move(attributes));
  if (!has_positions(original, d)) return made;
  Instruction* from = writer.integer(rows.begin);
  if (source.first != nullptr) {
    from = writer.append(Opcode::kAdd, Shape::scalar(ElementType::kS32), {from, source.first}, {});
  }
  return count_result_from(original, d, made, from,
                           [&](Opcode opcode, Shape part, std::vector<Instruction*> parts, Attributes more) {
                             return writer.append(opcode, std::move(part), std::move(parts), std::move(more));
                           });
}

}  // namespace lowtide::engine
