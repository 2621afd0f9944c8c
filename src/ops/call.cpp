// call, fusion: run a computation on the operands.
//   operands T0, T1, ... and a computation (T0, T1, ...) -> R give R. A fusion is a call that is executed as one loop
//   nest; its `kind` tells which sort of nest, and changes no value.
//   (C1) the computation takes the operands' shapes
#include <algorithm>

#include "ops/checks.h"
#include "ops/extents.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Status read_call(AttributeReader& reader, Instruction& call) {
  LT_ASSIGN_OR_RETURN(Computation * callee, reader.take_computation("to_apply"));
  call.called = {callee};
  return {};
}

void print_call(const Instruction& call, AttributeWriter& writer) { writer.computation("to_apply", *call.called[0]); }

constexpr std::pair<FusionKind, std::string_view> kFusionKinds[] = {
    {FusionKind::kLoop, "kLoop"},
    {FusionKind::kInput, "kInput"},
    {FusionKind::kOutput, "kOutput"},
    {FusionKind::kCustom, "kCustom"},
};

Status read_fusion(AttributeReader& reader, Instruction& fusion) {
  FusionAttributes attributes;
  LT_ASSIGN_OR_RETURN(const std::string kind, reader.take_word("kind"));
  const auto* row = std::find_if(std::begin(kFusionKinds), std::end(kFusionKinds),
                                 [&](const auto& known) { return known.second == kind; });
  if (row == std::end(kFusionKinds)) {
    return reader.fault_at("kind", "expected kLoop, kInput, kOutput or kCustom, got " + kind);
  }
  attributes.kind = row->first;
  LT_ASSIGN_OR_RETURN(attributes.output_to_operand_aliasing, reader.take_aliases_or_none("output_to_operand_aliasing"));
  LT_ASSIGN_OR_RETURN(Computation * callee, reader.take_computation("calls"));
  fusion.called = {callee};
  fusion.attributes = std::move(attributes);
  return {};
}

void print_fusion(const Instruction& fusion, AttributeWriter& writer) {
  const auto& attributes = fusion.as<FusionAttributes>();
  for (const auto& [kind, text] : kFusionKinds) {
    if (kind == attributes.kind) writer.text("kind", text);
  }
  if (!attributes.output_to_operand_aliasing.empty()) {
    writer.aliases("output_to_operand_aliasing", attributes.output_to_operand_aliasing);
  }
  writer.computation("calls", *fusion.called[0]);
}

Result<Shape> infer_call(const Instruction& call) {
  LT_ASSIGN_OR_RETURN(const Signature callee, signature_of(call, 0, 1));
  std::vector<const Shape*> given;
  for (const Instruction* operand : call.operands) given.push_back(&operand->shape);
  LT_RETURN_IF_ERROR(check_parameters(call, callee, given, 1));  // (C1)
  return *callee.result;
}

Result<Value> eval_call(const Instruction& call, Operands operands, EvalContext& context) {
  return context.call(*call.called[0], operands);
}

void extents_of_call(ExtentRelater& r) {
  for (const Computation* called : r.instruction().called) {
    r.passes(*called, 0, 1);
    r.returns(*called);
  }
}

}  // namespace

const OpRule kCallRule{.read = read_call,
                       .print = print_call,
                       .infer = infer_call,
                       .eval = eval_call,
                       .slicing = kNotSliced,
                       .extents = extents_of_call,
                       .reads = reads_anywhere,
                       .arithmetic = kOneOperation};
const OpRule kFusionRule{.read = read_fusion,
                         .print = print_fusion,
                         .infer = infer_call,
                         .eval = eval_call,
                         .slicing = kNotSliced,
                         .extents = extents_of_call,
                         .reads = reads_anywhere,
                         .arithmetic = kOneOperation};

}  // namespace lowtide::engine
