/// select: one of two values by a predicate.
///   predicate pred[s] or pred[], on_true T[s], on_false T[s] -> T[s]
///   (C1) a predicate and two arrays  (C2) the values have equal extents  (C3) and one element type
///   (C4) the predicate is a scalar or has their extents
///
/// clamp: moves a value into bounds; NaN operands stay NaN, and high wins if low > high.
///   low T[s] or T[], operand T[s], high T[s] or T[] -> T[s]
///   (C1) three arrays of real numbers or predicates  (C2) bounds are scalars or have the operand's extents
///   (C3) one element type

#include <fmt/format.h>

#include "ops/arithmetic.h"
#include "ops/elementwise.h"

namespace lowtide::engine {
namespace {

Result<Shape> infer_select(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 3, kAnything));
  const Shape& predicate = instruction.operand(0).shape;
  const Shape& on_true = instruction.operand(1).shape;
  const Shape& on_false = instruction.operand(2).shape;
  if (predicate.type != ElementType::kPred) {
    return broken(instruction, "C1",
                  fmt::format("operand 0 must be a predicate, got {}", to_string_without_layout(predicate)));
  }
  LT_RETURN_IF_ERROR(check_pair(instruction, on_true, on_false));
  if (predicate.rank() != 0 && !same_extents(predicate, on_true)) {
    return broken(instruction, "C4",
                  fmt::format("the predicate must be a scalar or have the extents of {}, got {}",
                              to_string_without_layout(on_true), to_string_without_layout(predicate)));
  }
  return with_type(on_true, result_type(instruction, on_true.type));
}

Result<Shape> infer_clamp(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 3, kPredicates | kIntegers | kFloats));
  const Shape& operand = instruction.operand(1).shape;
  for (const size_t i : {size_t{0}, size_t{2}}) {
    const Shape& bound = instruction.operand(i).shape;
    if (bound.rank() != 0 && !same_extents(bound, operand)) {
      return broken(instruction, "C2",
                    fmt::format("bounds must be scalars or have the extents of {}, got {}",
                                to_string_without_layout(operand), to_string_without_layout(bound)));
    }
    if (!same_or_mixed_precision(bound.type, operand.type)) {
      return broken(instruction, "C3",
                    fmt::format("operands must have one element type, got {} and {}", type_name(operand.type),
                                type_name(bound.type)));
    }
  }
  return with_type(operand, result_type(instruction, operand.type));
}

Result<Value> eval_select(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  LT_ASSIGN_OR_RETURN(const Value on_true, convert_elements(operands[1], instruction.shape.type));
  LT_ASSIGN_OR_RETURN(const Value on_false, convert_elements(operands[2], instruction.shape.type));
  const std::span<const bool> predicate = operands[0]->data<bool>();
  dispatch(instruction.shape.type, [&]<class T>() {
    const std::span<T> to = result->data<T>();
    const std::span<const T> yes = std::as_const(*on_true).data<T>(), no = std::as_const(*on_false).data<T>();
    const bool one = operands[0]->shape().rank() == 0;
    for (size_t i = 0; i < to.size(); ++i) to[i] = predicate[one ? 0 : i] ? yes[i] : no[i];
  });
  return Value(result);
}

Result<Value> eval_clamp(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::vector<Value> same, in_one_type(operands));
  const ElementType type = same[0]->shape().type;
  LT_ASSIGN_OR_RETURN(const Value result, dispatch_computed<kPredicates | kIntegers | kFloats>(type, [&]<class C>() {
                        const auto clamp = [](C low, C x, C high) { return Minimum{}(Maximum{}(low, x), high); };
                        return map_numbers<C, C>(with_type(instruction.shape, type), clamp, *same[0], *same[1],
                                                 *same[2]);
                      }));
  return convert_elements(result, instruction.shape.type);
}

/// If the predicate is known, only the selected value is computed: the index may be outside the other's extents.
void element_select(ElementContext& context, const Instruction& instruction, const Index& index,
                    std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const auto value = [&](size_t k) {
    return nest.convert(context.element(instruction.operand(k), index), instruction.shape.type);
  };
  const NodeId predicate = operand_element(context, instruction, 0, index);
  if (const auto known = nest.known_integer(predicate)) {
    leaves[0] = value(*known != 0 ? 1 : 2);
    return;
  }
  const NodeId on_true = value(1), on_false = value(2);
  leaves[0] = nest.select(predicate, on_true, on_false);
}

}  // namespace

const OpRule kSelectRule{.infer = infer_select,
                         .eval = eval_select,
                         .element = element_select,
                         .split = split_by_element,
                         .slicing = kSlicedByElement,
                         .extents = extents_by_roles,
                         .reads = reads_by_element,
                         .arithmetic = kOneOperation};
const OpRule kClampRule{.infer = infer_clamp,
                        .eval = eval_clamp,
                        .element = element_by_operation,
                        .split = split_by_element,
                        .slicing = kSlicedByElement,
                        .extents = extents_by_roles,
                        .reads = reads_by_element,
                        .arithmetic = kOneOperation};

}  // namespace lowtide::engine
