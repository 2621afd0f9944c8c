// Checks whether a program fails, and finds the smallest one that still does.
#include "passes/shrink.h"

#include "compile/compile.h"
#include "compile/load.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "ops/host_call.h"
#include "runtime/value_memory.h"
#include "session/call.h"
#include "session/guard.h"

namespace lowtide {
namespace engine {
namespace {

/// Compares compiled results with interpreted ones.
Status check_results(const Module& module, const Backend& backend, uint64_t seed) {
  LT_RETURN_IF_ERROR(refuse_to_repeat(module));
  const std::vector<Value> arguments = seeded_arguments(module, seed);
  const auto expected = interpret(module, arguments);
  if (!expected.ok()) return {};  // nothing to compare with
  LT_ASSIGN_OR_RETURN(const Compiled compiled, compile_plan(module, backend.target()));
  LT_ASSIGN_OR_RETURN(const auto loaded, load_program(compiled, backend));
  const ValueMemory memory(*compiled.program, arguments);
  LT_RETURN_IF_ERROR(loaded->run(memory.memory(), module.context().pool()));
  const std::vector<Value> results = memory.results(*loaded);
  if (std::string difference = usual_difference(results, *expected); !difference.empty())
    return {Fault::kWrongValues, std::move(difference)};
  return {};
}

lowtide::Module copy_of(const Module& module, const std::shared_ptr<Context>& context) {
  auto state = std::make_shared<lowtide::Module::State>();
  state->input.module = module.clone();
  state->input.module->set_context(context);
  return lowtide::Module(std::move(state));
}

}  // namespace
}  // namespace engine

Result<void> Session::check(const Module& module, uint64_t seed) const {
  return engine::guarded([&]() -> Result<void> {
    const engine::Call call(*state_);
    const engine::Input own = call.own(module);
    const engine::Status status = engine::check_results(*own.module, *state_->backend, seed);
    if (status.ok() || status.fault() == engine::Fault::kUnsupported) return {};
    return engine::error_of(status);
  });
}

Result<Module> Session::shrink(const Module& module, const std::function<bool(const Module&)>& fails,
                               int64_t most_tries) const {
  return engine::guarded([&]() -> Result<Module> {
    const engine::Call call(*state_);
    const engine::Input own = call.own(module);
    engine::Context& context = *call.context();
    const engine::Interruptible interruptible(context.stop());
    engine::Stage stage(context.progress(), "shrinking", static_cast<double>(most_tries));
    const auto still_fails = [&](const engine::Module& candidate) {
      if (context.should_stop()) return false;
      stage.add(1);
      return fails(engine::copy_of(candidate, state_->context));
    };
    const auto smallest = engine::shrink(*own.module, state_->target(), still_fails, {.most_tries = most_tries});
    return engine::copy_of(*smallest, state_->context);
  });
}

}  // namespace lowtide
