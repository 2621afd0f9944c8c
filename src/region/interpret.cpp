#include "region/interpret.h"

#include <map>

#include "interp/interpreter.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

class RegionInterpreter {
 public:
  RegionInterpreter(const Region& region, std::span<const Value> inputs, std::span<const Value> updated)
      : region_(region), context_(evaluation_context(region.ops.front()->parent->module())) {
    for (size_t k = 0; k < region.inputs.size(); ++k) arrays_[region.inputs[k]] = inputs[k];
    for (size_t k = 0; k < region.updates.size(); ++k) {
      if (region.updates[k].instruction) arrays_[region.updates[k]] = updated[k];
    }
  }

  Result<std::vector<Value>> run() {
    for (const Instruction* op : region_.ops) {
      const auto eval = rule_of(op->opcode).eval;
      if (!eval) return Status::unsupported("no definition of " + op->name);
      std::vector<Value> operands;
      for (const Instruction* operand : op->operands) {
        int32_t leaf = 0;
        operands.push_back(gather(*operand, operand->shape, leaf));
      }
      LT_ASSIGN_OR_RETURN(const Value result, eval(*op, operands, *context_));
      int32_t leaf = 0;
      scatter(*op, result, leaf);
    }
    std::vector<Value> results;
    for (const LeafRef& output : region_.outputs) results.push_back(arrays_.at(output));
    return results;
  }

 private:
  /// The operand as its reader wants it: arrays from behind bundles, bundled anew.
  Value gather(const Instruction& operand, const Shape& shape, int32_t& leaf) {
    if (shape.is_tuple()) {
      std::vector<Value> parts;
      for (const Shape& element : shape.elements) parts.push_back(gather(operand, element, leaf));
      return std::make_shared<Literal>(std::move(parts));
    }
    const LeafRef array = resolve({&operand, leaf++});
    if (!shape.is_array()) return std::make_shared<Literal>(Literal::token());
    const auto found = arrays_.find(array);
    LT_ASSERT(found != arrays_.end(), "the region reads " + array.instruction->name + ", which is no input of it");
    return found->second;
  }

  void scatter(const Instruction& op, const Value& value, int32_t& leaf) {
    if (value->shape().is_tuple()) {
      for (const Value& part : value->parts()) scatter(op, part, leaf);
    } else {
      arrays_[{&op, leaf++}] = value;
    }
  }

  const Region& region_;
  std::unique_ptr<EvalContext> context_;
  std::map<LeafRef, Value> arrays_;
};

}  // namespace

Result<std::vector<Value>> interpret(const Region& region, std::span<const Value> inputs,
                                     std::span<const Value> updated) {
  return RegionInterpreter(region, inputs, updated).run();
}

}  // namespace lowtide
