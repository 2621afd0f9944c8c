#include "passes/execute/spell_scaled_products.h"

#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

/// `array` in the type of the computation, times the scales of its blocks.
Instruction* scaled(Instruction* array, Instruction* scale, ElementType type, Maker& maker) {
  const Dims &extents = array->shape.dims, &blocks = scale->shape.dims;
  Instruction* wide = maker.convert(array, type);
  Instruction* factor = maker.convert(scale, type);
  if (blocks.empty()) {
    factor = maker.broadcast(factor, extents, {});
  } else {
    Dims split, where;  // each dimension as (block, element within it)
    for (size_t d = 0; d < blocks.size(); ++d) {
      where.push_back(static_cast<int64_t>(split.size()));
      split.push_back(blocks[d]);
      split.push_back(extents[d] / blocks[d]);
    }
    factor = maker.reshape(maker.broadcast(factor, split, where), extents);
  }
  return maker.binary(Opcode::kMultiply, wide, factor);
}

Instruction* spell_product(Instruction& dot, Maker& maker) {
  const ElementType type = dot.shape.type == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
  Instruction* lhs = scaled(dot.operands[0], dot.operands[2], type, maker);
  Instruction* rhs = scaled(dot.operands[1], dot.operands[3], type, maker);
  Instruction* product = maker.make(Opcode::kDot, Shape::array(type, dot.shape.dims), {lhs, rhs}, dot.attributes);
  return maker.convert(product, dot.shape.type);
}

}  // namespace

Result<PassResult> spell_scaled_products(Module& module) {
  return rewrite_each(module, {Opcode::kScaledDot}, spell_product, "products spelt");
}

}  // namespace lowtide::engine
