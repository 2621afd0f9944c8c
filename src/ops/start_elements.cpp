#include "ops/start_elements.h"

#include <limits>

namespace lowtide::engine {

Affine index_value(NestBuilder& nest, NodeId index) {
  if (nest.node(index).type != ElementType::kU64) return nest.affine(index);
  const NodeId most = nest.integer(ElementType::kU64, std::numeric_limits<int64_t>::max());
  return nest.affine(nest.operation(Opcode::kMinimum, ElementType::kU64, {index, most}));
}

Affine clamped_start(NestBuilder& nest, NodeId index, int64_t extent, int64_t size) {
  return nest.clamp(index_value(nest, index), 0, extent - size);
}

NodeId start_element(ElementContext& context, const Instruction& instruction, size_t first, size_t d) {
  return context.element(instruction.operand(first + d), {});
}

NodeId index_vector_element(ElementContext& context, const Instruction& indices, int64_t index_vector_dim,
                            const Index& batch, size_t entry) {
  Index at = batch;
  if (index_vector_dim < indices.shape.rank()) {
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(index_vector_dim),
              NestBuilder::fixed(static_cast<int64_t>(entry)));
  }
  return context.element(indices, at);
}

}  // namespace lowtide::engine
