// conditional: run one of several computations, each on its own operand.
//   index pred[] or s32[], one operand per branch. pred: true runs branch 0; s32 out of range runs the last branch.
//   (C1) the index is pred[] with two branches, or s32[] with at least one
//   (C2) branch k takes the shape of operand k + 1
//   (C3) all branches give one shape
#include <fmt/format.h>

#include "ir/by_element.h"
#include "ops/checks.h"
#include "ops/extents.h"
#include "ops/inlined.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Status read_conditional(AttributeReader& reader, Instruction& conditional) {
  ConditionalAttributes attributes;
  if (reader.has("branch_computations")) {
    LT_ASSIGN_OR_RETURN(conditional.called, reader.take_computations("branch_computations"));
  } else {
    attributes.by_predicate = true;
    LT_ASSIGN_OR_RETURN(Computation * if_true, reader.take_computation("true_computation"));
    LT_ASSIGN_OR_RETURN(Computation * if_false, reader.take_computation("false_computation"));
    conditional.called = {if_true, if_false};
  }
  conditional.attributes = attributes;
  return {};
}

void print_conditional(const Instruction& conditional, AttributeWriter& writer) {
  if (conditional.as<ConditionalAttributes>().by_predicate) {
    writer.computation("true_computation", *conditional.called[0]);
    writer.computation("false_computation", *conditional.called[1]);
  } else {
    writer.computations("branch_computations", conditional.called);
  }
}

Result<Shape> infer_conditional(const Instruction& conditional) {
  const size_t branches = conditional.called.size();
  const Shape* index = conditional.operands.empty() ? nullptr : &conditional.operand(0).shape;
  const bool by_predicate = index && same_shape(*index, Shape::scalar(ElementType::kPred));
  const bool by_index = index && same_shape(*index, Shape::scalar(ElementType::kS32));
  if (!(by_predicate && branches == 2) && !(by_index && branches >= 1)) {  // (C1)
    return broken(conditional, 1,
                  fmt::format("needs pred[] and two branches or s32[] and one or more, got {} and {}",
                              index ? to_string_without_layout(*index) : "no operand", branches));
  }
  if (conditional.operands.size() != branches + 1) {  // (C2)
    return broken(
        conditional, 2,
        fmt::format("{} branches need {} operands, got {}", branches, branches + 1, conditional.operands.size()));
  }
  const Shape* result = nullptr;
  for (size_t k = 0; k < branches; ++k) {
    LT_ASSIGN_OR_RETURN(const Signature branch, signature_of(conditional, k, 2));
    LT_RETURN_IF_ERROR(check_parameters(conditional, branch, {&conditional.operand(k + 1).shape}, 2));  // (C2)
    if (result && !same_shape(*result, *branch.result)) {                                               // (C3)
      return broken(conditional, 3,
                    fmt::format("branch {} gives {}, branch 0 {}", k, to_string_without_layout(*branch.result),
                                to_string_without_layout(*result)));
    }
    if (!result) result = branch.result;
  }
  return *result;
}

Result<Value> eval_conditional(const Instruction& conditional, Operands operands, EvalContext& context) {
  const auto last = static_cast<int64_t>(conditional.called.size()) - 1;
  int64_t branch = integer_at(*operands[0], 0);
  if (operands[0]->shape().type == ElementType::kPred) branch = branch ? 0 : 1;
  if (branch < 0 || branch > last) branch = last;
  return context.call(*conditional.called[branch], operands.subspan(static_cast<size_t>(branch) + 1, 1));
}

constexpr size_t kMostInstructions = 32;  ///< of all branches together, since an element computes every branch

/// Are all branches so cheap that selecting among their elements is faster than branching?
bool has_element_conditional(const Instruction& conditional) {
  size_t instructions = 0;
  for (const Computation* branch : conditional.called) {
    if (!has_elements(*branch)) return false;
    for (const auto& instruction : branch->instructions()) {
      if (!is_by_element(instruction->opcode) || ++instructions > kMostInstructions) return false;
    }
  }
  return true;
}

void element_conditional(ElementContext& context, const Instruction& conditional, int64_t leaf, const Index& index,
                         std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const NodeId which = context.element(conditional.operand(0), {});
  NodeId chosen = kNoId;
  for (size_t k = conditional.called.size(); k-- > 0;) {  // the last branch is also for indices out of range
    InlinedElements branch(context, [&](const Instruction&, int64_t wanted, const Index& at) {
      return context.element(conditional.operand(k + 1), wanted, at);
    });
    const NodeId made = branch.element(*conditional.called[k]->root, leaf, index);
    if (chosen == kNoId) {
      chosen = made;
      continue;
    }
    const bool by_predicate = nest.node(which).type == ElementType::kPred;
    const NodeId taken = by_predicate ? which
                                      : nest.compare(which, nest.integer(ElementType::kS32, static_cast<int64_t>(k)),
                                                     {CompareDirection::kEq, CompareType::kSigned});
    chosen = nest.select(taken, made, chosen);
  }
  leaves[leaf] = chosen;
}

void extents_of_conditional(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  for (size_t c = 0; c < i.called.size(); ++c) {
    r.passes(*i.called[c], c + 1, 0);
    r.returns(*i.called[c]);
  }
}

}  // namespace

const OpRule kConditionalRule{.read = read_conditional,
                              .print = print_conditional,
                              .infer = infer_conditional,
                              .eval = eval_conditional,
                              .leaf_element = element_conditional,
                              .has_element = has_element_conditional,
                              .slicing = kNotSliced,
                              .extents = extents_of_conditional,
                              .reads = reads_anywhere,
                              .arithmetic = kOneOperation};

}  // namespace lowtide::engine
