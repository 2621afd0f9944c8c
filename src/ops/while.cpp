// while: state = body(state) as long as condition(state).
//   (C1) the condition takes the operand's shape and gives pred[]
//   (C2) the body takes the operand's shape and gives it back
#include "ops/checks.h"
#include "ops/element_rules.h"
#include "ops/extents.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Status read_while(AttributeReader& reader, Instruction& loop) {
  LT_ASSIGN_OR_RETURN(Computation * condition, reader.take_computation("condition"));
  LT_ASSIGN_OR_RETURN(Computation * body, reader.take_computation("body"));
  loop.called = {condition, body};
  return {};
}

void print_while(const Instruction& loop, AttributeWriter& writer) {
  writer.computation("condition", *loop.called[0]);
  writer.computation("body", *loop.called[1]);
}

Result<Shape> infer_while(const Instruction& loop) {
  const Shape& state = loop.operand(0).shape;
  LT_ASSIGN_OR_RETURN(const Signature condition, signature_of(loop, 0, 1));
  LT_RETURN_IF_ERROR(check_parameters(loop, condition, {&state}, 1));  // (C1)
  if (!same_shape(*condition.result, Shape::scalar(ElementType::kPred))) {
    return broken(loop, 1, "the condition gives " + to_string_without_layout(*condition.result) + ", not pred[]");
  }
  LT_ASSIGN_OR_RETURN(const Signature body, signature_of(loop, 1, 2));
  LT_RETURN_IF_ERROR(check_parameters(loop, body, {&state}, 2));  // (C2)
  if (!same_shape(*body.result, state)) {
    return broken(
        loop, 2,
        "the body takes " + to_string_without_layout(state) + " and gives " + to_string_without_layout(*body.result));
  }
  return state;
}

Result<Value> eval_while(const Instruction& loop, Operands operands, EvalContext& context) {
  Value state = operands[0];
  while (true) {
    LT_ASSIGN_OR_RETURN(const Value go_on, context.call(*loop.called[0], {&state, 1}));
    if (!go_on->data<bool>()[0]) return state;
    LT_ASSIGN_OR_RETURN(state, context.call(*loop.called[1], {&state, 1}));
  }
}

void extents_of_while(ExtentRelater& r) {
  const Instruction& loop = r.instruction();
  for (const Computation* called : loop.called) r.passes(*called, 0, 1);
  for (size_t c = 1; c < loop.called.size(); ++c) r.returns(*loop.called[c]);
  r.same_as_operand(0);
}

}  // namespace

const OpRule kWhileRule{.read = read_while,
                        .print = print_while,
                        .infer = infer_while,
                        .eval = eval_while,
                        .leaf_element = element_while,
                        .has_element = has_element_while,
                        .slicing = kNotSliced,
                        .extents = extents_of_while,
                        .reads = reads_anywhere,
                        .arithmetic = kOneOperation};

}  // namespace lowtide::engine
