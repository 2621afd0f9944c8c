#include "lowtide/session.h"

#include <algorithm>
#include <chrono>

#include "analysis/partitioning.h"
#include "backend/cpu/cpu_backend.h"
#include "base/clock.h"
#include "base/files.h"
#include "compile/check_fit.h"
#include "compile/explain.h"
#include "compile/fit.h"
#include "compile/fit_for_xla.h"
#include "compile/largest_extent.h"
#include "lowtide/passes.h"
#include "ops/host_call.h"
#include "ops/verify.h"
#include "passes/lay_out_calls.h"
#include "passes/pass.h"
#include "plan/check.h"
#include "plan/csv.h"
#include "plan/pack.h"
#include "session/call.h"
#include "session/guard.h"
#include "session/make.h"
#include "session/prepare.h"
#include "session/settings_of.h"
#include "session/state.h"
#include "text/module_bytes.h"

namespace lowtide {
namespace {

using engine::Call;
using engine::guarded;

engine::InputStage stage_of(Stage stage) {
  return stage == Stage::kBeforeXla ? engine::InputStage::kBeforeXla : engine::InputStage::kLatest;
}

Module module_of(engine::Input input, std::string dump = {}) {
  auto state = std::make_shared<Module::State>();
  state->input = std::move(input);
  state->dump = std::move(dump);
  return Module(std::move(state));
}

/// Turns custom calls for which the host has functions into host calls on row-major arrays.
engine::Status take_calls(engine::Module& module) {
  if (!engine::take_foreign_calls(module)) return {};
  return engine::lay_out_calls(module);
}

Plan plan_of(std::shared_ptr<const engine::Module> module, engine::Compiled compiled) {
  auto state = std::make_shared<Plan::State>();
  state->module = std::move(module);
  state->compiled = std::move(compiled);
  return Plan(std::move(state));
}

}  // namespace

Session::Session(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<Session> Session::open(Options options) {
  return guarded([&]() -> Result<Session> {
    if (const auto checked = engine::check_options(options); !checked.ok()) return checked.error();
    auto state = std::make_shared<State>();
    const auto drop = [](std::string_view) {};
    state->context = std::make_shared<engine::Context>(
        engine::settings_of(options), options.warn ? options.warn : std::function<void(std::string_view)>(drop));
    auto& host = state->context->own<engine::HostFunctions>();
    host.all = {options.host_functions.begin(), options.host_functions.end()};
    host.foreign = options.foreign_calls;
    state->options = std::move(options);
    state->backend = &engine::cpu_backend();
    auto& targets = state->context->own<engine::Targets>();
    targets.set(state->backend->target(), state->context->settings());
    state->targets = &targets;
    state->files = &state->context->own<engine::OpenFiles>();
    return Session(std::move(state));
  });
}

int Session::threads() const { return state_->context->pool().threads(); }

Result<Module> Session::read(const std::string& path, Stage stage) const {
  return guarded([&]() -> Result<Module> {
    const Call call(*state_);
    LT_TAKE(engine::Input input, engine::read_input(path, stage_of(stage), call.context()));
    input.module->set_context(state_->context);
    LT_PASS(take_calls(*input.module));
    const bool is_xlas = !input.stage.empty() && stage == Stage::kLatest;
    return module_of(std::move(input), is_xlas ? path : "");
  });
}

Result<Module> Session::parse(std::string bytes, const std::string& name) const {
  return guarded([&]() -> Result<Module> {
    const Call call(*state_);
    LT_TAKE(auto module, engine::parse_module(std::move(bytes), name, {}, call.context()));
    LT_PASS(engine::verify(*module));
    LT_PASS(engine::verify_sizes(*module));
    module->set_context(state_->context);
    LT_PASS(take_calls(*module));
    engine::Input input;
    input.module = std::move(module);
    input.path = name;
    return module_of(std::move(input));
  });
}

Result<Module> Session::build(const ModuleBuilder& builder) const {
  return guarded([&]() -> Result<Module> {
    LT_TAKE(auto module, engine::make_module(builder.state(), state_->context));
    LT_PASS(take_calls(*module));
    engine::Input input;
    input.module = std::move(module);
    return module_of(std::move(input));
  });
}

Result<Explanation> Session::explain(Module module, bool boxes) const {
  return guarded([&]() -> Result<Explanation> {
    const Call call(*state_);
    LT_TAKE(Explanation explanation, engine::explain(call.own(std::move(module)), state_->target(), boxes));
    return explanation;
  });
}

Result<Plan> Session::plan(Module module) const {
  return guarded([&]() -> Result<Plan> {
    const Call call(*state_);
    std::shared_ptr<engine::Module> own = call.own(std::move(module)).module;
    (void)engine::plan_for_one_device(*own);
    std::optional<int64_t> tightest;
    auto compiled = engine::kept_plan_within(*own, state_->target(), state_->options.limit, &tightest);
    if (compiled.ok()) return plan_of(std::move(own), compiled.take());
    Error error = engine::error_of(compiled.status());
    error.lowest_peak = tightest;
    return error;
  });
}

Result<Fit> Session::fit(Module module, std::optional<int64_t> limit, const PlanChosen& chosen) const {
  return guarded([&]() -> Result<Fit> {
    const Call call(*state_);
    engine::Input own = call.own(std::move(module));
    const auto tell = [&](const engine::Decisions& decisions) -> engine::Status {
      if (!chosen) return {};
      const Result<void> told = chosen(engine::print_plan(*own.module, decisions));
      if (told.ok()) return {};
      return {static_cast<engine::Fault>(static_cast<int>(told.error().kind)), told.error().message};
    };
    LT_TAKE(engine::Fitted fitted, engine::fit_program(own, state_->target(), limit, tell));
    return Fit{plan_of(std::move(own.module), std::move(fitted.compiled)), std::move(fitted.report)};
  });
}

Result<FitForXla> Session::fit_for_xla(Module module, std::optional<int64_t> limit) const {
  return guarded([&]() -> Result<FitForXla> {
    const Call call(*state_);
    const std::string dump = module.state()->dump;
    engine::Input own = call.own(std::move(module));
    const engine::Platform platform = engine::platform_of(*own.module);  // the module that XLA compiled says more
    if (!dump.empty()) {  // XLA's input, not the module that XLA compiled
      LT_TAKE(own, engine::read_input(dump, engine::InputStage::kBeforeXla, call.context()));
      own.module->sums_in_order = state_->options.exact;
    }
    LT_TAKE(engine::FittedForXla fitted, engine::fit_for_xla(own, state_->xla(platform), limit));
    engine::Input rewritten;
    rewritten.module = std::move(fitted.module);
    rewritten.module->set_context(state_->context);
    return FitForXla{module_of(std::move(rewritten)), std::move(fitted.report)};
  });
}

Result<LargestExtent> Session::largest(Module module, std::string_view dimension, ExtentSearch how) const {
  return guarded([&]() -> Result<LargestExtent> {
    if (how.limit < 0 || how.multiple_of < 1)
      return Error{ErrorKind::kUsage, "expected a limit from 0 on, and extents that are multiples of at least 1"};
    const Call call(*state_);
    const engine::Input own = call.own(std::move(module));
    const engine::Platform platform = engine::platform_of(*own.module);
    const auto peak_of = [&](std::unique_ptr<engine::Module> resized) -> engine::Result<engine::PeakAndTime> {
      if (how.for_xla) {
        engine::Input input;
        input.module = std::move(resized);
        LT_ASSIGN_OR_RETURN(const auto fitted, engine::fit_for_xla(input, state_->xla(platform), how.limit));
        return engine::PeakAndTime{fitted.report.ours.peak, fitted.report.seconds};
      }
      return engine::peak_within(*resized, state_->target(), how.limit);
    };
    LT_TAKE(LargestExtent found, engine::largest_extent(*own.module, dimension, how.limit, how.multiple_of, peak_of));
    found.for_xla = how.for_xla;
    return found;
  });
}

Result<Plan> Session::replay(Module module, std::string_view text, const std::string& name) const {
  return guarded([&]() -> Result<Plan> {
    const Call call(*state_);
    std::shared_ptr<engine::Module> own = call.own(std::move(module)).module;
    LT_TAKE(engine::Compiled compiled, engine::plan_from_text(*own, state_->target(), text, name));
    return plan_of(std::move(own), std::move(compiled));
  });
}

Result<CheckedFit> Session::check(const Plan& plan, FitCheck how) const {
  return guarded([&]() -> Result<CheckedFit> {
    const engine::Module& module = *plan.state().module;
    const Call call(*state_, module.shared_context());
    LT_TAKE(CheckedFit checked, engine::check_fit(module, plan.state().compiled, *state_->backend,
                                                  {.control = static_cast<size_t>(std::max<int64_t>(how.control, 0)),
                                                   .only_small = how.only_small}));
    return checked;
  });
}

Result<Module> Session::rewrite(Module module, const std::optional<std::vector<std::string>>& passes) const {
  return guarded([&]() -> Result<Module> {
    std::vector<engine::Pass> chosen;
    if (passes) {
      if (const auto known = check_passes(*passes); !known.ok()) return known.error();
      for (const std::string& name : *passes) chosen.push_back(*engine::find_pass(name));
    }
    const Call call(*state_);
    engine::Input own = call.own(std::move(module));
    LT_TAKE(const auto records,
            engine::run_passes(*own.module, passes ? chosen : engine::pipeline(), state_->target()));
    own.module->set_context(state_->context);
    return module_of(std::move(own));
  });
}

Result<Packing> Session::pack(std::string_view table, int64_t capacity, const std::string& name) const {
  return guarded([&]() -> Result<Packing> {
    constexpr int64_t kWork = 600'000'000;  // some five seconds if no packing is found
    if (capacity < 0) return Error{ErrorKind::kUsage, "capacity: expected bytes from 0 on"};
    const Call call(*state_);
    LT_TAKE(const engine::BufferTable buffers, engine::parse_buffer_table(name, table));
    const auto start = std::chrono::steady_clock::now();
    const engine::Placement placement =
        engine::pack(buffers.problem, {.capacity = capacity, .work = kWork, .progress = &call.context()->progress()});
    const double seconds = engine::seconds_since(start);
    const std::string fault = engine::check_placement(buffers.problem, placement);
    LT_ASSERT(fault.empty(), "the packing is wrong: " + fault);
    return Packing{.offsets = placement.offsets,
                   .peak = placement.height,
                   .load = engine::packing_bound(buffers.problem),
                   .seconds = seconds,
                   .table = engine::print_buffer_table(buffers, placement)};
  });
}

Result<void> Session::write_file(const std::string& path, std::string_view content) const {
  return guarded([&]() -> Result<void> {
    LT_PASS(engine::write_file(path, content, state_->files));
    return {};
  });
}

void Session::cancel() const noexcept { state_->calls.stop_all(); }
void Session::remove_unfinished_files() const noexcept { state_->files->remove_unfinished(); }
const char* Session::file_mapped_at(const void* address) const noexcept { return state_->files->mapped_at(address); }

}  // namespace lowtide
