#include "region/interpret.h"

#include "interp/interpreter.h"
#include "ops/op_rule.h"
#include "region/arrays.h"

namespace lowtide::engine {
namespace {

Result<Value> value_of_operation(const Instruction& op, const ArrayStore& arrays, EvalContext& context) {
  const auto eval = rule_of(op.opcode).eval;
  if (!eval)
    return Status::unsupported("there is no definition of " + std::string(opcode_name(op.opcode)) + " " + op.name);
  std::vector<Value> operands;
  for (const Instruction* operand : op.operands) operands.push_back(arrays.operand(*operand));
  return eval(op, operands, context);
}

Result<std::vector<Value>> run_region(const Region& region, std::span<const Value> inputs,
                                      std::span<const Value> updated, EvalContext& context) {
  ArrayStore arrays;
  for (size_t k = 0; k < region.inputs.size(); ++k) arrays.set(region.inputs[k], inputs[k]);
  for (size_t k = 0; k < region.updates.size(); ++k) {
    if (region.updates[k].instruction) arrays.set(region.updates[k], updated[k]);
  }
  for (const Instruction* op : region.ops) {
    LT_ASSIGN_OR_RETURN(const Value result, value_of_operation(*op, arrays, context));
    arrays.set(*op, result);
  }
  std::vector<Value> results;
  for (const LeafRef& output : region.outputs) results.push_back(arrays.get(output));
  return results;
}

class WorkInterpreter {
 public:
  WorkInterpreter(const ModuleWork& work, const RunRegion& run_region)
      : work_(work), run_region_(run_region), context_(evaluation_context(*work.module)) {}

  Result<Value> run(const Computation& computation, std::span<const Value> arguments) {
    ArrayStore arrays;
    const std::vector<Instruction*> parameters = computation.parameters();
    for (size_t k = 0; k < parameters.size(); ++k) arrays.set(*parameters[k], arguments[k]);
    for (const Work& item : work_.of.at(&computation)) {
      LT_RETURN_IF_ERROR(run(item, arrays));
    }
    return arrays.operand(*computation.root);
  }

 private:
  Status run(const Work& item, ArrayStore& arrays) {
    if (item.kind == WorkKind::kRegion) {
      std::vector<Value> inputs, updated;
      for (const LeafRef& input : item.region.inputs) inputs.push_back(arrays.get(input));
      for (const LeafRef& u : item.region.updates) updated.push_back(u.instruction ? arrays.get(u) : Value());
      LT_ASSIGN_OR_RETURN(const std::vector<Value> results, run_region_
                                                                ? run_region_(item.region, inputs, updated)
                                                                : run_region(item.region, inputs, updated, *context_));
      for (size_t k = 0; k < results.size(); ++k) arrays.set(item.region.outputs[k], results[k]);
      return {};
    }
    const Instruction& i = *item.instruction;
    const Result<Value> result =
        item.kind == WorkKind::kControl ? control(i, arrays) : value_of_operation(i, arrays, *context_);
    if (!result.ok()) return result.status();
    arrays.set(i, *result);
    return {};
  }

  Result<Value> control(const Instruction& i, const ArrayStore& arrays) {
    Value state = arrays.operand(i.operand(0));
    if (i.opcode == Opcode::kWhile) {
      for (;;) {
        LT_ASSIGN_OR_RETURN(const Value more, run(*i.called[0], {&state, 1}));
        if (integer_at(*more, 0) == 0) return state;
        LT_ASSIGN_OR_RETURN(state, run(*i.called[1], {&state, 1}));
      }
    }
    const auto branches = static_cast<int64_t>(i.called.size());
    int64_t branch = integer_at(*state, 0);
    if (i.as<ConditionalAttributes>().by_predicate) branch = branch ? 0 : 1;
    if (branch < 0 || branch >= branches) branch = branches - 1;
    const Value argument = arrays.operand(i.operand(static_cast<size_t>(branch) + 1));
    return run(*i.called[branch], {&argument, 1});
  }

  const ModuleWork& work_;
  const RunRegion& run_region_;
  std::unique_ptr<EvalContext> context_;
};

}  // namespace

Result<std::vector<Value>> interpret(const Region& region, std::span<const Value> inputs,
                                     std::span<const Value> updated) {
  const auto context = evaluation_context(region.ops.front()->parent->module());
  return run_region(region, inputs, updated, *context);
}

Result<std::vector<Value>> interpret(const ModuleWork& work, std::vector<Value> arguments,
                                     const RunRegion& run_region) {
  LT_ASSIGN_OR_RETURN(const Value result, WorkInterpreter(work, run_region).run(*work.module->entry, arguments));
  return arrays_in(result);
}

}  // namespace lowtide::engine
