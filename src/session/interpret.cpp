// Runs that interpret the program by the definitions of its operations.
#include <fmt/format.h>

#include <cstring>

#include "analysis/account.h"
#include "base/memory.h"
#include "base/sizes.h"
#include "interp/interpreter.h"
#include "ops/host_call.h"
#include "session/call.h"
#include "session/guard.h"
#include "session/make_run.h"
#include "session/run_state.h"
#include "session/tensor_state.h"

namespace lowtide {
namespace engine {
namespace {

class InterpretedRun final : public Run::State {
 public:
  std::unique_ptr<Module> module;
  std::vector<Value> arguments;

  const std::shared_ptr<Context>& context() const override { return module->shared_context(); }
  const char* stage() const override { return "interpreting"; }
  Status restore() override { return {}; }
  Status run() override {
    LT_ASSIGN_OR_RETURN(values_, interpret(*module, arguments));
    shapes.clear();
    for (const Value& value : values_) shapes.push_back(value->shape());
    return {};
  }
  bool watch(StepTimes*) override { return false; }
  Profile profile(const StepTimes&, int64_t, double) const override { return {}; }
  const std::byte* result(size_t number) const override { return values_[number]->bytes().data(); }
  std::optional<int64_t> touched_bytes() const override { return {}; }
  void collect() override {
    for (size_t i = 0; files.results && i < values_.size(); ++i) {
      const auto from = values_[i]->bytes();
      if (!from.empty()) std::memcpy(files.results->data(i), from.data(), from.size());
    }
  }

 private:
  std::vector<Value> values_;
};

/// Reads a value whose leaves are the tensors arg<next>, arg<next+1>, ...
Result<Value> value_from(const TensorFile& file, const Shape& shape, int64_t& next) {
  if (!shape.is_tuple()) {
    if (shape.is_array()) return file.load_as(fmt::format("arg{}", next++), shape);
    if (shape.type == ElementType::kToken) return Value(std::make_shared<Literal>(Literal::token()));
    return Status::unsupported(fmt::format("an argument of type {} can't be given in a file", to_string(shape)));
  }
  std::vector<Value> parts;
  for (const Shape& element : shape.elements) {
    LT_ASSIGN_OR_RETURN(Value part, value_from(file, element, next));
    parts.push_back(std::move(part));
  }
  return Value(std::make_shared<Literal>(std::move(parts)));
}

Result<std::vector<Value>> arguments_from(const Module& module, TensorFile file) {
  LT_RETURN_IF_ERROR(name_by_number(file, "arg", arrays_of_arguments(module)));
  std::vector<Value> arguments;
  int64_t next = 0;
  for (const Instruction* parameter : module.entry->parameters()) {
    LT_ASSIGN_OR_RETURN(Value argument, value_from(file, parameter->shape, next));
    arguments.push_back(std::move(argument));
  }
  LT_RETURN_IF_ERROR(file.check_unchanged());
  if (const int64_t given = file.count_of("arg"); given > next) {
    return Status::input(fmt::format("{}: {} arguments, but the program takes {}", file.name(), given, next));
  }
  return arguments;
}

/// Refuses a program that doesn't fit in memory, before the machine starts to swap.
Status check_memory(const Account& account) {
  const AvailableMemory available = available_memory();
  if (account.peak_bytes() <= available.bytes) return {};
  return {Fault::kLimit,
          fmt::format("the program needs {} as given; {} has {} left", format_bytes(account.peak_bytes()),
                      available.bound_by, format_bytes(available.bytes))};
}

}  // namespace
}  // namespace engine

Result<Run> Session::interpret(Module module, RunFiles files) const {
  return engine::guarded([&]() -> Result<Run> {
    const engine::Call call(*state_);
    if (const auto can = module.can_run(); !can.ok()) return can.error();
    auto run = std::make_shared<engine::InterpretedRun>();
    run->module = call.own(std::move(module)).module;
    LT_PASS(engine::find_missing_host_functions(*run->module));
    run->session = state_;
    run->results = engine::arrays_of_results(*run->module);
    if (const auto room = engine::check_room(run->results, files); !room.ok()) return room.error();
    LT_PASS(engine::check_memory(engine::account_for(*run->module, engine::AccountMode::kAsGiven)));
    if (files.arguments) {
      LT_TAKE(run->arguments, engine::arguments_from(*run->module, files.arguments->state().file));
    } else {
      run->arguments = engine::seeded_arguments(*run->module, files.seed);
    }
    run->files = std::move(files);
    return Run(std::move(run));
  });
}

}  // namespace lowtide
