// Builds calls, loops and branches: values that they capture become operands.
#include <fmt/format.h>

#include "ir/kept_calls.h"
#include "ops/attribute_text.h"
#include "text/stablehlo/operations.h"

namespace lowtide::engine {
namespace {

using Scope = ModuleMaker::Scope;

Status wrong_regions(const ModuleMaker& maker, const MlirOperation& operation, size_t expected) {
  return maker.fault(operation.place,
                     fmt::format("{}: found {} region{}, expected {}", operation.name, operation.regions.size(),
                                 operation.regions.size() == 1 ? "" : "s", expected));
}

}  // namespace

Status make_call(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  const auto callee = maker.values().find_any(operation.attributes, "decomposition|callee");
  if (!callee) return maker.fault(operation.place, "found a call without the name of its function");
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  LT_ASSIGN_OR_RETURN(const Computation* function, maker.function(callee->text, callee->place));
  LT_ASSIGN_OR_RETURN(Instruction * result, maker.add(scope, operation, Opcode::kCall, operation.result_shape(),
                                                      operands, {{"to_apply", '%' + function->name, callee->place}}));
  maker.bind(scope, operation, result);
  return {};
}

Status make_composite(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  const MlirValues& values = maker.values();
  const auto name = values.find(operation.attributes, "name");
  if (!name || !name->text.starts_with("\"chlo.")) return make_call(maker, scope, operation);
  LT_ASSIGN_OR_RETURN(const std::string whole, values.string(*name));
  const std::string function = whole.substr(whole.find('.') + 1);
  const OperationSpelling* row = spelling_of(function);
  const bool known = function_named(function) != nullptr || (row && row->dialect == "chlo");
  if (!known) return make_call(maker, scope, operation);
  MlirOperation plain = operation;
  plain.name = maker.keep(whole);
  plain.attributes.clear();
  if (const auto given = values.find(operation.attributes, "composite_attributes")) {
    LT_ASSIGN_OR_RETURN(plain.attributes, values.fields(*given));
  }
  return maker.operation(scope, plain);
}

Status make_while(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  if (operation.regions.size() != 2) return wrong_regions(maker, operation, 2);
  LT_ASSIGN_OR_RETURN(Instructions carried, maker.operands(scope, operation));
  const size_t own = carried.size();
  for (const MlirRegion& region : operation.regions) {
    if (region.arguments.size() == own) continue;
    return maker.fault(region.place, fmt::format("found {} arguments, expected one for each of {} values",
                                                 region.arguments.size(), own));
  }
  LT_ASSIGN_OR_RETURN(const Instructions captures,
                      maker.captures(scope, {&operation.regions[0], &operation.regions[1]}));
  LT_ASSIGN_OR_RETURN(const Computation* condition,
                      maker.branch(scope, operation.regions[0], "while.condition", captures, false));
  LT_ASSIGN_OR_RETURN(const Computation* body, maker.branch(scope, operation.regions[1], "while.body", captures, true));
  carried.insert(carried.end(), captures.begin(), captures.end());
  LT_ASSIGN_OR_RETURN(Instruction * state, maker.bundle(scope, operation, carried));
  LT_ASSIGN_OR_RETURN(Instruction * result,
                      maker.add(scope, operation, Opcode::kWhile, state->shape, {state},
                                {{"condition", '%' + condition->name}, {"body", '%' + body->name}}));
  maker.bind(scope, operation, result, own > 1 || !captures.empty());
  return {};
}

Status make_conditional(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  const bool by_predicate = operation.name.ends_with("if");
  if (by_predicate && operation.regions.size() != 2) return wrong_regions(maker, operation, 2);
  if (operation.regions.empty()) return wrong_regions(maker, operation, 1);
  LT_ASSIGN_OR_RETURN(Instructions operands, maker.operands(scope, operation));
  if (operands.size() != 1) return maker.fault(operation.place, "expected one operand: which branch is taken");
  std::vector<std::string> names;
  for (const MlirRegion& region : operation.regions) {
    if (!region.arguments.empty()) return maker.fault(region.place, "found arguments in a branch, expected none");
    LT_ASSIGN_OR_RETURN(const Instructions captures, maker.captures(scope, {&region}));
    LT_ASSIGN_OR_RETURN(const Computation* branch,
                        maker.branch(scope, region, fmt::format("branch_{}", names.size()), captures, false));
    names.push_back('%' + branch->name);
    LT_ASSIGN_OR_RETURN(Instruction * taken, maker.bundle(scope, operation, captures));
    operands.push_back(taken);
  }
  std::vector<HloAttribute> attributes;
  if (by_predicate) {
    attributes = {{"true_computation", names[0]}, {"false_computation", names[1]}};
  } else {
    attributes = {{"branch_computations", fmt::format("{{{}}}", fmt::join(names, ", "))}};
  }
  LT_ASSIGN_OR_RETURN(Instruction * result, maker.add(scope, operation, Opcode::kConditional, operation.result_shape(),
                                                      std::move(operands), std::move(attributes)));
  maker.bind(scope, operation, result);
  return {};
}

/// An asynchronous operation is executed at its start; its other stages pass the results on.
Status make_async(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  if (!operation.name.ends_with("start")) {
    if (operation.operands.size() != 1) return maker.fault(operation.place, "expected one operand: what was started");
    LT_ASSIGN_OR_RETURN(Instruction * started, maker.value(scope, operation.operands[0]));
    maker.bind(scope, operation, started);
    return {};
  }
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  if (operation.regions.size() != 1) return wrong_regions(maker, operation, 1);
  const MlirRegion& region = operation.regions[0];
  LT_ASSIGN_OR_RETURN(const Computation* work, maker.reducer(scope, region, "async"));
  LT_ASSIGN_OR_RETURN(Instruction * result, maker.add(scope, operation, Opcode::kCall, work->root->shape, operands,
                                                      {{"to_apply", '%' + work->name}}));
  maker.bind(scope, operation, result);
  return {};
}

/// A manual computation takes and returns shards of values: it becomes the calls that JAX writes in HLO.
Status make_manual_computation(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  if (operation.regions.size() != 1) return wrong_regions(maker, operation, 1);
  const MlirRegion& region = operation.regions[0];
  LT_ASSIGN_OR_RETURN(Instructions operands, maker.operands(scope, operation));
  if (region.arguments.size() != operands.size()) {
    return maker.fault(region.place, fmt::format("found {} arguments, expected one for each of {} operands",
                                                 region.arguments.size(), operands.size()));
  }
  const auto text = [&](std::string_view key, std::string_view generic) {
    const auto found = maker.values().find(operation.attributes, key);
    if (!found) return std::string();
    return found->text.starts_with('#') ? std::string(found->text) : fmt::format(fmt::runtime(generic), found->text);
  };
  const std::string axes = text("manual_axes", "#sdy<manual_axes{}>");
  const auto convert = [&](std::string_view target, std::string_view key, Shape shape,
                           const Instructions& from) -> Result<Instruction*> {
    MlirOperation origin;
    origin.place = operation.place;
    origin.location = operation.location;
    LT_ASSIGN_OR_RETURN(Instruction * call,
                        maker.add(scope, origin, Opcode::kCustomCall, std::move(shape), from,
                                  {{"custom_call_target", quote(target)}, {"custom_call_has_side_effect", "true"}}));
    call->frontend_attributes = fmt::format("{{xla.sdy.{}={},xla.sdy.manual_axes={}}}", key,
                                            quote(text(key, "#sdy.sharding_per_value<{}>")), quote(axes));
    return call;
  };
  Instructions parts;
  if (!operands.empty()) {
    std::vector<Shape> local;
    for (const MlirArgument& argument : region.arguments) local.push_back(argument.type);
    const bool single = local.size() == 1;
    LT_ASSIGN_OR_RETURN(Instruction * all, convert("xla.sdy.GlobalToLocalShape", "in_shardings",
                                                   single ? local[0] : Shape::tuple(local), operands));
    if (single) parts = {all};
    for (size_t i = 0; !single && i < local.size(); ++i) {
      LT_ASSIGN_OR_RETURN(Instruction * part, maker.add(scope, MlirOperation{}, Opcode::kGetTupleElement, local[i],
                                                        {all}, {{"index", std::to_string(i)}}));
      parts.push_back(part);
    }
  }
  LT_ASSIGN_OR_RETURN(const Computation* body, maker.reducer(scope, region, "xla.sdy.manual_computation_body"));
  MlirOperation origin;
  origin.place = operation.place;
  origin.location = operation.location;
  LT_ASSIGN_OR_RETURN(Instruction * local, maker.add(scope, origin, Opcode::kCall, body->root->shape, parts,
                                                     {{"to_apply", '%' + body->name}}));
  local->frontend_attributes = fmt::format("{{{}}}", kKeptAttribute);
  Instructions results = {local};
  if (local->shape.is_tuple()) {
    results.clear();
    for (size_t i = 0; i < local->shape.elements.size(); ++i) {
      LT_ASSIGN_OR_RETURN(Instruction * part,
                          maker.add(scope, MlirOperation{}, Opcode::kGetTupleElement, local->shape.elements[i], {local},
                                    {{"index", std::to_string(i)}}));
      results.push_back(part);
    }
  }
  if (operation.types.empty()) return {};
  LT_ASSIGN_OR_RETURN(Instruction * whole,
                      convert("xla.sdy.LocalToGlobalShape", "out_shardings", operation.result_shape(), results));
  maker.bind(scope, operation, whole);
  return {};
}

}  // namespace lowtide::engine
