#include "passes/stream/slice_writer.h"

#include "region/value_graph.h"

namespace lowtide::engine {

Shape plain_shape(const Shape& shape) { return Shape::array(shape.type, shape.dims); }

Shape slices_shape(const Shape& shape, int64_t d, int64_t slices) {
  Shape part = plain_shape(shape);
  part.dims[d] = slices;
  return part;
}

Instruction* SliceWriter::append(Opcode opcode, Shape shape, std::vector<Instruction*> operands,
                                 Attributes attributes) {
  return append_new(computation_, names_.unused(base_), opcode, std::move(shape), std::move(operands),
                    std::move(attributes));
}

Instruction* SliceWriter::append(std::unique_ptr<Instruction> copy) {
  copy->name = names_.unused(copy->name);
  return computation_.append(std::move(copy));
}

Appender SliceWriter::appender() {
  return [this](Opcode opcode, Shape shape, std::vector<Instruction*> operands, Attributes attributes) {
    return append(opcode, std::move(shape), std::move(operands), std::move(attributes));
  };
}

Instruction* SliceWriter::integer(int64_t value) {
  auto literal = std::make_shared<Literal>(Shape::scalar(ElementType::kS32));
  literal->data<int32_t>()[0] = static_cast<int32_t>(value);
  return append(Opcode::kConstant, Shape::scalar(ElementType::kS32), {}, ConstantAttributes{literal});
}

Instruction* SliceWriter::zero() {
  if (zero_ == nullptr) zero_ = integer(0);
  return zero_;
}

Instruction* SliceWriter::element(Instruction& tuple, int64_t k) {
  return append(Opcode::kGetTupleElement, tuple.shape.elements[k], {&tuple}, TupleIndexAttributes{k});
}

Instruction* SliceWriter::filled(const Shape& shape, Instruction* value) {
  if (value == nullptr) {
    auto zero = std::make_shared<Literal>(Shape::scalar(shape.type));
    value = append(Opcode::kConstant, Shape::scalar(shape.type), {}, ConstantAttributes{zero});
  }
  return append(Opcode::kBroadcast, plain_shape(shape), {value}, DimensionsAttributes{});
}

Instruction* SliceWriter::convert(Instruction* array, ElementType type) {
  if (array->shape.type == type) return array;
  return append(Opcode::kConvert, Shape::array(type, array->shape.dims), {array});
}

Instruction* SliceWriter::slices(Instruction& array, int64_t d, RowRange range) {
  if (range.begin == 0 && range.end == array.shape.dims[d]) return &array;
  const Shape shape = slices_shape(array.shape, d, range.end - range.begin);
  SliceAttributes slice{Dims(shape.dims.size(), 0), array.shape.dims, Dims(shape.dims.size(), 1)};
  slice.starts[d] = range.begin;
  slice.limits[d] = range.end;
  return append(Opcode::kSlice, shape, {&array}, std::move(slice));
}

std::vector<Instruction*> SliceWriter::with_starts(std::vector<Instruction*> operands, int64_t rank, int64_t d,
                                                   Instruction& start) {
  for (int64_t k = 0; k < rank; ++k) operands.push_back(k == d ? &start : zero());
  return operands;
}

Instruction* SliceWriter::slices_from(Instruction& array, int64_t d, Instruction& start, int64_t count) {
  const Shape shape = slices_shape(array.shape, d, count);
  return append(Opcode::kDynamicSlice, shape, with_starts({&array}, shape.rank(), d, start),
                DynamicSliceAttributes{shape.dims});
}

Instruction* SliceWriter::updated(Instruction& array, Instruction& slices, int64_t d, Instruction& start) {
  return append(Opcode::kDynamicUpdateSlice, plain_shape(array.shape),
                with_starts({&array, &slices}, array.shape.rank(), d, start));
}

Instruction* SliceWriter::concatenated(const std::vector<Instruction*>& parts, int64_t d) {
  if (parts.size() == 1) return parts[0];
  int64_t slices = 0;
  for (const Instruction* part : parts) slices += part->shape.dims[d];
  return append(Opcode::kConcatenate, slices_shape(parts[0]->shape, d, slices), parts, DimensionsAttributes{{d}});
}

Computation* counting_condition(Module& module, Names& names, const char* base, const Shape& state, int64_t end) {
  Computation& c = *module.add_computation(module.unused_computation_name(std::string(base) + "_condition"));
  SliceWriter writer(c, names, base);
  Instruction* parameter = writer.append(Opcode::kParameter, state, {}, ParameterAttributes{0});
  Instruction* limit = writer.integer(end);
  c.root = writer.append(Opcode::kCompare, Shape::scalar(ElementType::kPred), {writer.element(*parameter, 0), limit},
                         CompareAttributes{CompareDirection::kLt, CompareType::kDefault});
  return &c;
}

Instruction* SourceArrays::of(const LeafRef& array) {
  auto* source = const_cast<Instruction*>(array.instruction);
  if (source->shape.is_array()) return source;
  Instruction*& element = elements_[array];
  if (element == nullptr) element = writer_.element(*source, array.leaf);
  return element;
}

Instruction* SourceArrays::read(Instruction& operand) {
  const LeafRef source = resolve({&operand, 0});
  const bool is_element = operand.opcode == Opcode::kGetTupleElement && operand.operands[0] == source.instruction;
  return is_element ? &operand : of(source);
}

void redirect_reads(Computation& computation, int32_t first_new,
                    const std::function<Instruction*(Instruction&)>& instead) {
  const auto redirect = [&](Instruction*& read) {
    if (read->id < first_new && read->shape.is_array()) read = instead(*read);
  };
  std::vector<Instruction*> readers;  // `instead` may append to the computation
  for (const auto& i : computation.instructions()) {
    if (!is_name(i->opcode) || i->opcode == Opcode::kTuple) readers.push_back(i.get());
  }
  for (Instruction* i : readers) {
    for (Instruction*& operand : i->operands) redirect(operand);
  }
  redirect(computation.root);
}

}  // namespace lowtide::engine
