#include "passes/xla/barrier.h"

namespace lowtide::engine {

std::vector<Instruction*> put_behind_barrier(Computation& computation, Names& names, const char* base,
                                             const std::vector<Instruction*>& values, size_t silent,
                                             std::vector<Instruction*>& order) {
  const auto append = [&](Opcode opcode, Shape shape, std::vector<Instruction*> operands, Attributes attributes) {
    order.push_back(append_new(computation, names.unused(base), opcode, std::move(shape), std::move(operands),
                               std::move(attributes)));
    return order.back();
  };
  Shape shape = Shape::tuple({});
  for (const Instruction* value : values) shape.elements.push_back(value->shape);
  Instruction* tuple = append(Opcode::kTuple, shape, values, {});
  Instruction* barrier = append(Opcode::kOptBarrier, shape, {tuple}, {});
  std::vector<Instruction*> elements(silent, nullptr);
  for (size_t k = silent; k < values.size(); ++k) {
    elements.push_back(
        append(Opcode::kGetTupleElement, values[k]->shape, {barrier}, TupleIndexAttributes{static_cast<int64_t>(k)}));
    elements.back()->metadata = values[k]->metadata;
  }
  return elements;
}

}  // namespace lowtide::engine
