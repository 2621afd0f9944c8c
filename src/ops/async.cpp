// async-start, async-update, async-done: start one operation and await it elsewhere.
//   start(operands) -> ((operand shapes), result, contexts..) as declared; update passes that tuple on; done gives the
//   result. Either a wrapped computation runs (`calls=`), or the name contains the operation: `call-start(..)`,
//   `reduce-scatter-start(..)`, with that operation's own attributes.
//   (C1) start declares a tuple of two or more parts, the first a tuple of its operands' shapes
//   (C2) a wrapped computation takes the operands and gives the second part
//   (C3) update and done take such a tuple
#include "ops/checks.h"
#include "ops/op_rule.h"
#include "ops/zeros.h"

namespace lowtide::engine {
namespace {

using AsyncPointer = std::shared_ptr<const AsyncAttributes>;

Status read_start(AttributeReader& reader, Instruction& start) {
  if (const auto* given = start.if_as<AsyncPointer>(); given && *given) {
    AsyncAttributes attributes{(*given)->wrapped, {}};
    start.attributes = std::monostate{};
    const OpRule& rule = rule_of(attributes.wrapped);
    if (rule.read) LT_RETURN_IF_ERROR(rule.read(reader, start));
    attributes.inner = std::move(start.attributes);
    start.attributes = std::make_shared<const AsyncAttributes>(std::move(attributes));
    return {};
  }
  LT_ASSIGN_OR_RETURN(Computation * callee, reader.take_computation("calls"));
  start.called = {callee};
  return {};
}

/// Skips the wrapped computation, which older texts repeat after the start has named it.
Status read_rest(AttributeReader& reader, Instruction&) {
  for (const std::string_view key : {"calls", "to_apply"}) {
    if (reader.has(key)) LT_RETURN_IF_ERROR(reader.take_text(key).status());
  }
  return {};
}

/// The wrapped operation as a separate instruction with the same operands, as input for its rule.
Instruction unwrapped(const Instruction& start, const AsyncAttributes& attributes) {
  Instruction inner = start;
  inner.opcode = attributes.wrapped;
  inner.attributes = attributes.inner;
  if (start.shape.is_tuple() && start.shape.elements.size() > 1) inner.shape = start.shape.elements[1];
  return inner;
}

void print_start(const Instruction& start, AttributeWriter& writer) {
  if (const auto* attributes = start.if_as<AsyncPointer>()) {
    const OpRule& rule = rule_of((*attributes)->wrapped);
    if (rule.print) rule.print(unwrapped(start, **attributes), writer);
  } else {
    writer.computation("calls", *start.called[0]);
  }
}

Result<Shape> infer_async_start(const Instruction& start) {
  const Shape& declared = start.shape;
  std::vector<const Shape*> given;
  for (const Instruction* operand : start.operands) given.push_back(&operand->shape);
  bool fits = declared.is_tuple() && declared.elements.size() >= 2 && declared.elements[0].is_tuple() &&
              declared.elements[0].elements.size() == given.size();
  for (size_t k = 0; fits && k < given.size(); ++k) fits = same_shape(declared.elements[0].elements[k], *given[k]);
  if (!fits) {  // (C1)
    return broken(start, 1, "declares " + to_string_without_layout(declared) + ", not ((operands), result, ..)");
  }
  if (!start.if_as<AsyncPointer>()) {
    LT_ASSIGN_OR_RETURN(const Signature callee, signature_of(start, 0, 2));
    LT_RETURN_IF_ERROR(check_parameters(start, callee, given, 2));  // (C2)
    if (!same_shape(*callee.result, declared.elements[1])) {
      return broken(start, 2,
                    "the wrapped computation gives " + to_string_without_layout(*callee.result) + ", declared is " +
                        to_string_without_layout(declared.elements[1]));
    }
  }
  return declared;
}

Status check_started(const Instruction& instruction) {
  const Shape& started = instruction.operand(0).shape;
  if (started.is_tuple() && started.elements.size() >= 2) return {};  // (C3)
  return broken(instruction, 3, "takes " + to_string_without_layout(started) + ", not ((operands), result, ..)");
}

Result<Shape> infer_update(const Instruction& update) {
  LT_RETURN_IF_ERROR(check_started(update));
  return update.operand(0).shape;
}

Result<Shape> infer_async_done(const Instruction& done) {
  LT_RETURN_IF_ERROR(check_started(done));
  return done.operand(0).shape.elements[1];
}

Result<Value> eval_async_start(const Instruction& start, Operands operands, EvalContext& context) {
  LT_ASSIGN_OR_RETURN(const Value zeros, zeros_of(start.shape));
  std::vector<Value> parts = zeros->parts();
  parts[0] = std::make_shared<Literal>(std::vector<Value>(operands.begin(), operands.end()));
  if (const auto* attributes = start.if_as<AsyncPointer>()) {
    const Instruction inner = unwrapped(start, **attributes);
    const OpRule& rule = rule_of(inner.opcode);
    if (!rule.eval) {
      return Status::unsupported(std::string(opcode_name(inner.opcode)) + " can't be run: " + start.name);
    }
    if (rule.infer) {  // checked only when it runs: programs that are just read are free
      LT_ASSIGN_OR_RETURN(const Shape shape, rule.infer(inner));
      if (!same_shape(shape, inner.shape)) {
        return Status::input(start.name + " declares " + to_string_without_layout(inner.shape) + ", but gives " +
                             to_string_without_layout(shape));
      }
    }
    LT_ASSIGN_OR_RETURN(parts[1], rule.eval(inner, operands, context));
  } else {
    LT_ASSIGN_OR_RETURN(parts[1], context.call(*start.called[0], operands));
  }
  return Value(std::make_shared<Literal>(std::move(parts)));
}

Result<Value> eval_update(const Instruction&, Operands operands, EvalContext&) { return operands[0]; }

Result<Value> eval_async_done(const Instruction&, Operands operands, EvalContext&) { return operands[0]->parts()[1]; }

}  // namespace

const OpRule kAsyncStartRule{.read = read_start,
                             .print = print_start,
                             .infer = infer_async_start,
                             .eval = eval_async_start,
                             .slicing = kNotSliced,
                             .extents = unknown_extents,
                             .reads = reads_anywhere,
                             .arithmetic = kOneOperation};
const OpRule kAsyncUpdateRule{.read = read_rest,
                              .infer = infer_update,
                              .eval = eval_update,
                              .slicing = kNotSliced,
                              .extents = unknown_extents,
                              .reads = reads_anywhere,
                              .arithmetic = kOneOperation};
const OpRule kAsyncDoneRule{.read = read_rest,
                            .infer = infer_async_done,
                            .eval = eval_async_done,
                            .slicing = kNotSliced,
                            .extents = unknown_extents,
                            .reads = reads_anywhere,
                            .arithmetic = kOneOperation};

}  // namespace lowtide::engine
