#include "interp/interpreter.h"

#include <fmt/format.h>

#include <new>
#include <unordered_map>
#include <utility>

#include "base/denormals.h"
#include "interp/noise.h"
#include "interp/prepare.h"
#include "ops/counter_bits.h"
#include "ops/op_rule.h"
#include "ops/verify.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestCall = 400;  ///< nesting of calls, loops and branches: bounds the stack

class Interpreter final : public EvalContext {
 public:
  explicit Interpreter(const Module& module, std::optional<uint64_t> noise = std::nullopt) : module_(module) {
    if (noise) noise_.emplace(*noise);
  }

  Result<Value> run(const Instruction& instruction, std::span<const Value> operands) {
    Result<Value> result = rule_of(instruction.opcode).eval(instruction, operands, *this);
    return result.ok() ? result : placed(result.status(), instruction);
  }

  Result<Value> call(const Computation& computation, std::span<const Value> arguments) override {
    if (depth_ == kDeepestCall) return Status::unsupported("calls are nested too deeply in " + computation.name);
    LT_ASSIGN_OR_RETURN(const PreparedComputation* program, program_of(computation));
    LT_ASSERT(arguments.size() == program->parameters.size(), "arguments of " + computation.name + " don't fit");
    ++depth_;
    Result<Value> result = run(*program, arguments);
    --depth_;
    return result;
  }

  /// Counts a run of the entry computation as one step of the current stage.
  void show_progress() { shown_ = true; }

  uint64_t advance_generator(uint64_t blocks) override { return std::exchange(counter_, counter_ + blocks); }

 private:
  Result<const PreparedComputation*> program_of(const Computation& computation) {
    const auto found = programs_.find(&computation);
    if (found != programs_.end()) return const_cast<const PreparedComputation*>(&found->second);
    LT_ASSIGN_OR_RETURN(PreparedComputation program, prepare(computation));
    return const_cast<const PreparedComputation*>(&programs_.emplace(&computation, std::move(program)).first->second);
  }

  Result<Value> run(const PreparedComputation& program, std::span<const Value> arguments) {
    std::vector<Value> values(static_cast<size_t>(program.slots));
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (program.parameters[k] >= 0) values[program.parameters[k]] = arguments[k];
    }
    std::vector<Value> operands;
    for (const PreparedComputation::Step& step : program.steps) {
      const Instruction& instruction = *step.instruction;
      if (shown_ && depth_ == 1) module_.context().progress().add(1 / static_cast<double>(program.steps.size()));
      operands.clear();
      for (const int32_t slot : step.operands) operands.push_back(values[slot]);
      for (const int32_t slot : step.frees) values[slot].reset();
      Result<Value> result = step.eval(instruction, operands, *this);
      if (!result.ok()) return placed(result.status(), instruction);
      if (Status fault = check(**result, instruction); !fault.ok()) return placed(fault, instruction);
      if (noise_ && rounds(instruction)) result = noisy(instruction, *result);
      if (step.result >= 0) values[step.result] = result.take();
    }
    return values[program.root];
  }

  Value noisy(const Instruction& instruction, const Value& value) {
    if (value->shape().is_tuple()) {
      std::vector<Value> parts;
      for (const Value& part : value->parts()) parts.push_back(noisy(instruction, part));
      return std::make_shared<Literal>(std::move(parts));
    }
    auto moved = std::make_shared<Literal>(*value);
    const double error = rounding_error_of(instruction, value->shape().type);
    if (errs_like_largest(instruction)) {
      noise_->add_like_largest(*moved, error);
    } else {
      noise_->add(*moved, error);
    }
    return moved;
  }

  static Status check(const Literal& value, const Instruction& instruction) {
    if (same_shape(value.shape(), instruction.shape)) return {};
    return {Fault::kInternal,
            fmt::format("{} {} gave {}, declared is {}", opcode_name(instruction.opcode), instruction.name,
                        to_string_without_layout(value.shape()), to_string_without_layout(instruction.shape))};
  }

  Status placed(const Status& fault, const Instruction& instruction) const {
    return module_.source ? fault.at(*module_.source, instruction.place) : fault;
  }

  const Module& module_;
  std::unordered_map<const Computation*, PreparedComputation> programs_;  // nodes don't move: callers hold pointers
  std::optional<Noise> noise_;
  uint64_t counter_ = kHiddenCounter;
  int depth_ = 0;
  bool shown_ = false;
};

}  // namespace

std::unique_ptr<EvalContext> evaluation_context(const Module& module) { return std::make_unique<Interpreter>(module); }

Result<std::vector<Value>> interpret(const Module& module, std::vector<Value> arguments,
                                     std::optional<uint64_t> noise) {
  const std::vector<Instruction*> parameters = module.entry->parameters();
  if (arguments.size() != parameters.size()) {
    return Status::input(
        fmt::format("the program takes {} arguments, {} are given", parameters.size(), arguments.size()));
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k] && arguments[k]->known() && same_shape(arguments[k]->shape(), parameters[k]->shape)) continue;
    return Status::input(fmt::format("argument {} must be {}, got {}", k,
                                     to_string_without_layout(parameters[k]->shape),
                                     arguments[k] ? to_string_without_layout(arguments[k]->shape()) : "nothing"));
  }
  LT_RETURN_IF_ERROR(verify_runnable(module));
  const DenormalsScope flushed(Denormals::kFlushed);  // as the engine does
  try {
    Interpreter interpreter(module, noise);
    interpreter.show_progress();
    LT_ASSIGN_OR_RETURN(const Value result, interpreter.call(*module.entry, arguments));
    return arrays_in(result);
  } catch (const std::bad_alloc&) {
    return Status::unsupported("the interpreter needs more memory than there is");
  }
}

bool can_interpret(const Instruction& instruction) {
  if (!rule_of(instruction.opcode).eval) return false;
  for (const Computation* callee : instruction.called) {
    for (const auto& inner : callee->instructions()) {
      if (inner->opcode != Opcode::kParameter && !can_interpret(*inner)) return false;
    }
  }
  return true;
}

int64_t interpreted_scratch_bytes(const Instruction& instruction) {
  int64_t bytes = logical_bytes(instruction.shape);
  for (const Instruction* operand : instruction.operands) bytes += logical_bytes(operand->shape);
  return bytes;
}

Result<Value> interpret_instruction(const Instruction& instruction, std::span<const Value> operands) {
  try {
    return Interpreter(instruction.parent->module()).run(instruction, operands);
  } catch (const std::bad_alloc&) {
    return Status(Fault::kLimit, "no memory is left to interpret " + instruction.name);
  }
}

}  // namespace lowtide::engine
