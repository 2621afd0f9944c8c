// copy-start, copy-done: start a copy, mostly between memory spaces, and await it elsewhere.
//   start(T) -> (T, T, u32[]): destination, source, context; done gives the destination.
//   (C1) start declares a destination and a source, both of the operand's shape, then a context
//   (C2) done takes such a tuple
#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Result<Shape> infer_start(const Instruction& start) {
  const Shape& declared = start.shape;
  const Shape* operand = start.operands.empty() ? nullptr : &start.operand(0).shape;
  if (!operand || !declared.is_tuple() || declared.elements.size() != 3 ||
      !same_shape(declared.elements[0], *operand) || !same_shape(declared.elements[1], *operand)) {  // (C1)
    return broken(start, 1,
                  "declares " + to_string_without_layout(declared) + ", not (destination, source, context) of " +
                      (operand ? to_string_without_layout(*operand) : "an operand"));
  }
  return declared;
}

Result<Shape> infer_done(const Instruction& done) {
  const Shape& started = done.operand(0).shape;
  if (!started.is_tuple() || started.elements.size() != 3) {  // (C2)
    return broken(done, 2, "takes " + to_string_without_layout(started) + ", not (destination, source, context)");
  }
  return started.elements[0];
}

Result<Value> eval_start(const Instruction&, Operands operands, EvalContext&) {
  const Value context = std::make_shared<Literal>(Shape::scalar(ElementType::kU32));
  return Value(std::make_shared<Literal>(std::vector<Value>{operands[0], operands[0], context}));
}

Result<Value> eval_done(const Instruction&, Operands operands, EvalContext&) { return operands[0]->parts()[0]; }

}  // namespace

const OpRule kCopyStartRule{.infer = infer_start,
                            .eval = eval_start,
                            .slicing = kNotSliced,
                            .extents = unknown_extents,
                            .reads = reads_anywhere,
                            .arithmetic = kOneOperation};
const OpRule kCopyDoneRule{.infer = infer_done,
                           .eval = eval_done,
                           .slicing = kNotSliced,
                           .extents = unknown_extents,
                           .reads = reads_anywhere,
                           .arithmetic = kOneOperation};

}  // namespace lowtide::engine
