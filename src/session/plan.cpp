#include "lowtide/plan.h"

#include "analysis/account.h"
#include "compile/written_plan.h"
#include "report/build.h"
#include "runtime/runnable.h"
#include "schedule/modelled_time.h"
#include "session/guard.h"
#include "session/state.h"

namespace lowtide {

Plan::Plan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Sizes Plan::sizes() const {
  const engine::Program& p = *state_->compiled.program;
  return {.arguments = p.argument_bytes,
          .outputs = p.output_bytes,
          .alias = p.alias_bytes,
          .temp = p.temp_bytes,
          .load = p.load_bytes,
          .peak = p.peak_bytes(),
          .host = p.host_bytes};
}

Result<LowerBound> Plan::floor_of_order() const {
  return engine::guarded(
      [&]() -> Result<LowerBound> { return engine::lower_bound_of(engine::floor_order(*state_->module)); });
}
Result<LowerBound> Plan::floor_of_any() const {
  return engine::guarded(
      [&]() -> Result<LowerBound> { return engine::lower_bound_of(engine::floor_any(*state_->module)); });
}
double Plan::modelled_seconds() const {
  return 1e-9 * engine::modelled_ns(*state_->compiled.program, state_->compiled.target->cost());
}
double Plan::plan_seconds() const { return state_->compiled.plan_seconds; }
bool Plan::is_exact() const { return state_->module->sums_in_order; }
int64_t Plan::kernels() const { return state_->compiled.program->kernels; }

std::string Plan::warning() const {
  const std::string& refused = state_->compiled.program->refused;
  if (refused.empty()) return {};
  return "values don't share memory: a plan in which they did was refused (" + refused + ")";
}

std::vector<Buffer> Plan::buffers() const {
  std::vector<Buffer> buffers;
  for (const engine::Storage& storage : state_->compiled.program->storages) {
    if (!storage.is_in_arena() || storage.bytes == 0) continue;
    Buffer buffer{
        .value = {}, .bytes = storage.bytes, .offset = storage.offset, .born = storage.born, .dies = storage.dies};
    if (!storage.values.empty() && storage.values.front().instruction)
      buffer.value = storage.values.front().instruction->name;
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

Result<void> Plan::can_run() const {
  const engine::Status status = engine::can_run(*state_->module, *state_->compiled.program, *state_->compiled.target);
  if (!status.ok()) return engine::error_of(status);
  return {};
}

std::string Plan::text() const { return engine::print_plan(*state_->module, state_->compiled.replay); }

Result<Module> Plan::module() const {
  return engine::guarded([&]() -> Result<Module> {
    auto written = std::make_shared<Module::State>();
    LT_TAKE(const auto module, engine::written_plan(*state_->module, state_->compiled, written->input.warnings));
    written->input.module = module->clone();
    return Module(std::move(written));
  });
}

}  // namespace lowtide
