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
/// Checks (C2) and (C3) for two shapes.
Status check_pair(const Instruction& instruction, const Shape& a, const Shape& b);
/// Are they the same element type, or two floats of different precision?
bool same_or_mixed_precision(ElementType a, ElementType b);
/// The element type of a result whose operands imply the type `natural`: the declared one if both are floats, since
/// programs for TPUs omit conversions between precisions.
ElementType result_type(const Instruction& instruction, ElementType natural);
/// The element type of a result that consists of moved operand elements: the operand's. In scheduled modules floats
/// have the declared type instead, since a backend's passes may fold a conversion of floats into the operation.
ElementType moved_type(const Instruction& instruction, ElementType operand);
/// The type in which operands of these types are computed: their common type or, for different floats, the widest.
ElementType common_type(ElementType a, ElementType b);
/// Element `index` of operand k; of a scalar operand, the scalar.
NodeId operand_element(ElementContext& context, const Instruction& instruction, size_t k, const Index& index);
/// One node of the instruction's operation on the operands' elements in their common type.
void element_by_operation(ElementContext& context, const Instruction& instruction, const Index& index,
                          std::span<NodeId> leaves);
/// `shape` with another element type and no layout.
Shape with_type(const Shape& shape, ElementType type);

/// The value with elements of `type`, converted if necessary (by the rules in convert.cpp).
Result<Value> convert_elements(const Value& value, ElementType type);
/// Converts the operands to the widest of their types, in which the operation is computed.
Result<std::vector<Value>> in_one_type(Operands operands);

/// result[i] = f(operands[i]...); a scalar operand is broadcast.
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

/// F's result of these numbers, with the bit width of their type as a last argument if F takes it.
template <class F, class... Numbers>
auto with_width(int bits, Numbers... numbers) {
  if constexpr (std::is_invocable_v<F, Numbers..., int>) {
    return F{}(numbers..., bits);
  } else {
    return F{}(numbers...);
  }
}

template <Kinds kinds, class F>
Result<Value> eval_unary(const Instruction& instruction, Operands operands, EvalContext&) {
  const ElementType type = operands[0]->shape().type;
  const int bits = type_bits(type);
  LT_ASSIGN_OR_RETURN(const Value result, dispatch_computed<kinds>(type, [&]<class C>() {
                        return map_numbers<C, C>(
                            with_type(instruction.shape, type), [bits](C x) { return C(with_width<F>(bits, x)); },
                            *operands[0]);
                      }));
  return convert_elements(result, instruction.shape.type);
}

template <Kinds kinds, class F>
Result<Value> eval_binary(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::vector<Value> same, in_one_type(operands));
  const ElementType type = same[0]->shape().type;
  const int bits = type_bits(type);
  LT_ASSIGN_OR_RETURN(const Value result, dispatch_computed<kinds>(type, [&]<class C>() {
                        return map_numbers<C, C>(
                            with_type(instruction.shape, type),
                            [bits](C x, C y) { return C(with_width<F>(bits, x, y)); }, *same[0], *same[1]);
                      }));
  return convert_elements(result, instruction.shape.type);
}

/// The rule of an operation on numbers of these kinds; f, an object without state, computes each element. It is passed
/// as an argument because clang gives lambdas that are template arguments of different sources the same symbols.
template <Kinds kinds, class F>
constexpr OpRule unary(F, const ElementArithmetic& arithmetic) {
  return {.infer = [](const Instruction& instruction) { return infer_unary(instruction, kinds); },
          .eval = eval_unary<kinds, F>,
          .element = element_by_operation,
          .split = split_by_element,
          .slicing = kSlicedByElement,
          .extents = extents_by_roles,
          .reads = reads_by_element,
          .arithmetic = arithmetic};
}
template <Kinds kinds, class F>
constexpr OpRule binary(F, const ElementArithmetic& arithmetic) {
  return {.infer = [](const Instruction& instruction) { return infer_binary(instruction, kinds); },
          .eval = eval_binary<kinds, F>,
          .element = element_by_operation,
          .split = split_by_element,
          .slicing = kSlicedByElement,
          .extents = extents_by_roles,
          .reads = reads_by_element,
          .arithmetic = arithmetic};
}

}  // namespace lowtide::engine
