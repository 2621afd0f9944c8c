#include "ops/products.h"

namespace lowtide::engine {
namespace {

ElementType sum_type(ElementType result) {
  return is_floating(result) && type_bits(result) < 32 ? ElementType::kF32 : result;
}

Opcode sum_opcode(ElementType type) { return type == ElementType::kPred ? Opcode::kOr : Opcode::kAdd; }

NodeId zero(NestBuilder& nest, ElementType type) { return nest.constant(type, {0, 0}); }

}  // namespace

ProductSum::ProductSum(ElementContext& context, ElementType result)
    : nest_(context.nest),
      result_(result),
      sum_(sum_type(result)),
      folding_(context, {.opcode = sum_opcode(sum_), .type = sum_}, {zero(context.nest, sum_)}) {}

void ProductSum::add(NodeId a, NodeId b, NodeId guard) {
  a = nest_.convert(nest_.convert(a, result_), sum_);
  b = nest_.convert(nest_.convert(b, result_), sum_);
  const Opcode multiply = sum_ == ElementType::kPred ? Opcode::kAnd : Opcode::kMultiply;
  folding_.fold({nest_.operation(multiply, sum_, {a, b})}, guard);
}

NodeId ProductSum::close() { return nest_.convert(folding_.close()[0], result_); }

}  // namespace lowtide::engine
