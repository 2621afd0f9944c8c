/// complex: a number from its parts.       re T[s], im T[s] -> C[s]    c64 of f32, c128 of f64
///   (C1) two arrays of f32 or f64  (C2) equal extents  (C3) one element type
/// real, imag: a part of a number.         operand C[s] -> T[s]        of a float: itself, zero
///   (C1) the operand is an array of floats or complex numbers

#include "ops/elementwise.h"

namespace lowtide::engine {
namespace {

Result<Shape> infer_complex(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 2, kFloats));
  const Shape& re = instruction.operand(0).shape;
  const Shape& im = instruction.operand(1).shape;
  if (!is_wide_float(re.type) || !is_wide_float(im.type)) {
    return broken(instruction, "C1", "the parts must be f32 or f64");
  }
  LT_RETURN_IF_ERROR(check_pair(instruction, re, im));
  if (re.type != im.type) return broken(instruction, "C3", "the parts must have one element type");
  return with_type(re, re.type == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128);
}

Result<Shape> infer_part(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kFloats | kComplexes));
  const Shape& operand = instruction.operand(0).shape;
  return with_type(operand, operand.type == ElementType::kC64    ? ElementType::kF32
                            : operand.type == ElementType::kC128 ? ElementType::kF64
                                                                 : operand.type);
}

Result<Value> eval_complex(const Instruction& instruction, Operands operands, EvalContext&) {
  const auto join = [&]<class R>() {
    const auto complex = [](R re, R im) { return std::complex<R>(re, im); };
    return map_numbers<R, std::complex<R>>(instruction.shape, complex, *operands[0], *operands[1]);
  };
  return operands[0]->shape().type == ElementType::kF32 ? join.operator()<float>() : join.operator()<double>();
}

template <bool imaginary>
Result<Value> eval_part(const Instruction& instruction, Operands operands, EvalContext&) {
  return dispatch_computed < kFloats | kComplexes > (operands[0]->shape().type, [&]<class C>() {
                                         using R = decltype(std::real(C{}));
                                         const auto part = [](C z) { return imaginary ? std::imag(z) : std::real(z); };
                                         return map_numbers<C, R>(instruction.shape, part, *operands[0]);
                                       });
}

void element_part(ElementContext& context, const Instruction& instruction, const Index& index,
                  std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const NodeId whole = context.element(instruction.operand(0), index);
  const ElementType type = nest.node(whole).type;
  if (is_complex(type)) {
    leaves[0] = nest.operation(instruction.opcode, instruction.shape.type, {whole});
  } else {
    leaves[0] = instruction.opcode == Opcode::kReal ? nest.convert(whole, instruction.shape.type)
                                                    : nest.number(instruction.shape.type, 0);
  }
}

}  // namespace

const OpRule kComplexRule{.infer = infer_complex,
                          .eval = eval_complex,
                          .element = element_by_operation,
                          .split = split_by_element,
                          .slicing = kSlicedByElement,
                          .extents = extents_by_roles,
                          .reads = reads_by_element,
                          .arithmetic = kQuarterOperation};
const OpRule kRealRule{.infer = infer_part,
                       .eval = eval_part<false>,
                       .element = element_part,
                       .split = split_by_element,
                       .slicing = kSlicedByElement,
                       .extents = extents_by_roles,
                       .reads = reads_by_element,
                       .arithmetic = kQuarterOperation};
const OpRule kImagRule{.infer = infer_part,
                       .eval = eval_part<true>,
                       .element = element_part,
                       .split = split_by_element,
                       .slicing = kSlicedByElement,
                       .extents = extents_by_roles,
                       .reads = reads_by_element,
                       .arithmetic = kQuarterOperation};

}  // namespace lowtide::engine
