#pragma once
/// Operations whose result element i needs element i of each operand.
///
/// unary    a T[s] -> T[s]                 (C1) the operand is an array of the operation's kinds of element
/// binary   a T[s], b T[s] -> T[s]         (C1) as above, for both  (C2) equal extents
///                                         (C3) one element type; floats may differ in precision, as TPU programs do

#include <algorithm>
#include <type_traits>

#include "ops/infer.h"
#include "ops/numbers.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

/// The result has the operand's shape.
Result<Shape> infer_unary(const Instruction& instruction, Kinds kinds);
/// The result has the operands' shape.
Result<Shape> infer_binary(const Instruction& instruction, Kinds kinds);
/// (C2) and (C3) of two shapes.
Status check_pair(const Instruction& instruction, const Shape& a, const Shape& b);
/// One element type, or two floats of different precision.
bool same_or_mixed_precision(ElementType a, ElementType b);
/// The element type of a result that is `natural` by its operands: the declared one where both are floats, since
/// programs for TPUs leave out conversions between precisions.
ElementType result_type(const Instruction& instruction, ElementType natural);
/// The element type of a result that is its operand's elements, moved: theirs. A backend's own passes may leave the
/// conversion of floats to the operation: in scheduled modules the declared one.
ElementType moved_type(const Instruction& instruction, ElementType operand);
/// The type in which operands of these types are computed: theirs, or where floats differ, the widest.
ElementType common_type(ElementType a, ElementType b);
/// Element `index` of operand k; of a scalar operand, the scalar.
NodeId operand_element(ElementContext& context, const Instruction& instruction, size_t k, const Index& index);
/// One node of the instruction's operation on the operands' elements in their common type.
void element_by_operation(ElementContext& context, const Instruction& instruction, const Index& index,
                          std::span<NodeId> leaves);
/// `shape` with another element type and no layout.
Shape with_type(const Shape& shape, ElementType type);

/// The value as elements of `type`: itself, or converted (convert.cpp states how).
Result<Value> convert_elements(const Value& value, ElementType type);
/// The operands in the widest of their types, in which the operation is to be computed.
Result<std::vector<Value>> in_one_type(Operands operands);

/// result[i] = f(operands[i]...), where a scalar operand stands for as many elements as are needed.
/// In and Out are the types in which operands and result are computed.
template <class In, class Out, class F, class... Arrays>
Result<Value> map_numbers(const Shape& shape, F f, const Arrays&... arrays) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(shape));
  const int64_t size = result->size();
  NumberWriter<Out> writer(*result);
  auto readers = std::make_tuple(NumberReader<In>(arrays, arrays.size() == 1 && size != 1)...);
  for (int64_t first = 0; first < size; first += kChunk) {
    const int64_t count = std::min(kChunk, size - first);
    Out* const out = writer.room(first);
    std::apply(
        [&](auto&... reader) {
          [&](const auto*... in) {
            for (int64_t i = 0; i < count; ++i) out[i] = f(in[i]...);
          }(reader.read(first, count)...);
        },
        readers);
    writer.write(first, count);
  }
  return Value(result);
}

/// f of numbers, and of the width of their type where f asks for it.
template <auto f, class C, class... Numbers>
auto with_width(int bits, Numbers... numbers) {
  if constexpr (std::is_invocable_v<decltype(f), Numbers..., int>) {
    return f(numbers..., bits);
  } else {
    return f(numbers...);
  }
}

template <Kinds kinds, auto f>
Result<Value> eval_unary(const Instruction& instruction, Operands operands, EvalContext&) {
  const ElementType type = operands[0]->shape().type;
  const int bits = type_bits(type);
  LT_ASSIGN_OR_RETURN(const Value result, dispatch_computed<kinds>(type, [&]<class C>() {
                        return map_numbers<C, C>(
                            with_type(instruction.shape, type), [bits](C x) { return C(with_width<f, C>(bits, x)); },
                            *operands[0]);
                      }));
  return convert_elements(result, instruction.shape.type);
}

template <Kinds kinds, auto f>
Result<Value> eval_binary(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::vector<Value> same, in_one_type(operands));
  const ElementType type = same[0]->shape().type;
  const int bits = type_bits(type);
  LT_ASSIGN_OR_RETURN(const Value result, dispatch_computed<kinds>(type, [&]<class C>() {
                        return map_numbers<C, C>(
                            with_type(instruction.shape, type),
                            [bits](C x, C y) { return C(with_width<f, C>(bits, x, y)); }, *same[0], *same[1]);
                      }));
  return convert_elements(result, instruction.shape.type);
}

/// The rule of an operation on numbers of these kinds, each computed by f.
template <Kinds kinds, auto f>
constexpr OpRule unary(const ElementArithmetic& arithmetic) {
  return {.infer = [](const Instruction& instruction) { return infer_unary(instruction, kinds); },
          .eval = eval_unary<kinds, f>,
          .element = element_by_operation,
          .slicing = kSlicedByElement,
          .extents = extents_by_roles,
          .reads = reads_by_element,
          .arithmetic = arithmetic};
}
template <Kinds kinds, auto f>
constexpr OpRule binary(const ElementArithmetic& arithmetic) {
  return {.infer = [](const Instruction& instruction) { return infer_binary(instruction, kinds); },
          .eval = eval_binary<kinds, f>,
          .element = element_by_operation,
          .slicing = kSlicedByElement,
          .extents = extents_by_roles,
          .reads = reads_by_element,
          .arithmetic = arithmetic};
}

}  // namespace lowtide::engine
