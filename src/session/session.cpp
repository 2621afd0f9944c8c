#include "lowtide/session.h"

#include <algorithm>

#include "analysis/partitioning.h"
#include "codegen/machine.h"
#include "compile/explain.h"
#include "compile/fit.h"
#include "compile/fit_for_xla.h"
#include "ops/verify.h"
#include "passes/pass.h"
#include "session/call.h"
#include "session/guard.h"
#include "session/make.h"
#include "session/prepare.h"
#include "session/state.h"
#include "target/cpu.h"
#include "target/xla.h"
#include "text/module_bytes.h"

namespace lowtide {
namespace {

using engine::Call;
using engine::guarded;

/// What other rewrites than passes `without` may name.
constexpr std::string_view kOtherRewrites[] = {"contract-products", "tables"};

Result<void> check(const Options& options) {
  const auto wrong = [](std::string why) { return Error{ErrorKind::kUsage, "Options::" + std::move(why)}; };
  if (options.threads < 0) return wrong("threads: expected a number from 0 on");
  if (options.limit && *options.limit < 0) return wrong("limit: expected bytes from 0 on");
  if (options.cache_bytes < 0) return wrong("cache_bytes: expected bytes from 0 on");
  for (const std::string& name : options.without) {
    if (engine::find_pass(name) || std::ranges::find(kOtherRewrites, name) != std::end(kOtherRewrites)) continue;
    return wrong("without: there is no pass `" + name + "`");
  }
  const auto isa = engine::resolve_isa(engine::Isa::kNative, options.instruction_set);
  if (!isa.ok()) return engine::error_of(isa.status());
  return {};
}

engine::Settings settings_of(const Options& options) {
  engine::Settings settings;
  settings.choices.disabled = options.without;
  settings.choices.isa = options.instruction_set;
  settings.threads = options.threads;
  settings.cache_directory = options.cache_directory;
  settings.cache_bytes = options.cache_bytes;
  return settings;
}

Module module_of(engine::Input input, std::string dump = {}) {
  auto state = std::make_shared<Module::State>();
  state->input = std::move(input);
  state->dump = std::move(dump);
  return Module(std::move(state));
}

Plan plan_of(std::shared_ptr<const engine::Module> module, engine::Compiled compiled) {
  auto state = std::make_shared<Plan::State>();
  state->module = std::move(module);
  state->compiled = std::move(compiled);
  return Plan(std::move(state));
}

}  // namespace

std::string usual_cache_directory(std::string_view xdg_cache_home, std::string_view home) {
  // They must be absolute: the working directory is no place for a cache that nobody asked for.
  if (xdg_cache_home.starts_with('/')) return std::string(xdg_cache_home) + "/lowtide";
  return home.starts_with('/') ? std::string(home) + "/.cache/lowtide" : "";
}

Session::Session(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<Session> Session::open(Options options) {
  return guarded([&]() -> Result<Session> {
    if (const auto checked = check(options); !checked.ok()) return checked.error();
    auto state = std::make_shared<State>();
    const auto drop = [](std::string_view) {};
    state->context = std::make_shared<engine::Context>(
        settings_of(options), options.warn ? options.warn : std::function<void(std::string_view)>(drop));
    state->options = std::move(options);
    return Session(std::move(state));
  });
}

Result<Module> Session::read(const std::string& path) const {
  return guarded([&]() -> Result<Module> {
    const Call call(*state_);
    LT_TAKE(engine::Input input, engine::read_input(path, engine::InputStage::kLatest, call.context()));
    input.module->set_context(state_->context);
    const bool is_of_dump = !input.stage.empty();
    return module_of(std::move(input), is_of_dump ? path : "");
  });
}

Result<Module> Session::parse(std::string bytes, const std::string& name) const {
  return guarded([&]() -> Result<Module> {
    const Call call(*state_);
    LT_TAKE(auto module, engine::parse_module(std::move(bytes), name, {}, call.context()));
    LT_PASS(engine::verify(*module));
    LT_PASS(engine::verify_sizes(*module));
    module->set_context(state_->context);
    engine::Input input;
    input.module = std::move(module);
    input.path = name;
    return module_of(std::move(input));
  });
}

Result<Module> Session::build(const ModuleBuilder& builder) const {
  return guarded([&]() -> Result<Module> {
    LT_TAKE(auto module, engine::make_module(builder.state(), state_->context));
    engine::Input input;
    input.module = std::move(module);
    return module_of(std::move(input));
  });
}

Result<Explanation> Session::explain(const Module& module, bool boxes) const {
  return guarded([&]() -> Result<Explanation> {
    const Call call(*state_);
    LT_TAKE(Explanation explanation, engine::explain(call.own(module.state().input), engine::cpu_target(), boxes));
    return explanation;
  });
}

Result<Plan> Session::plan(const Module& module) const {
  return guarded([&]() -> Result<Plan> {
    const Call call(*state_);
    std::shared_ptr<engine::Module> own = call.own(*module.state().input.module);
    (void)engine::plan_for_one_device(*own);
    LT_TAKE(engine::Compiled compiled, engine::kept_plan_within(*own, state_->options.limit));
    return plan_of(std::move(own), std::move(compiled));
  });
}

Result<Fit> Session::fit(const Module& module, std::optional<int64_t> limit) const {
  return guarded([&]() -> Result<Fit> {
    const Call call(*state_);
    engine::Input own = call.own(module.state().input);
    LT_TAKE(engine::Fitted fitted, engine::fit_program(own, engine::cpu_target(), limit));
    return Fit{plan_of(std::move(own.module), std::move(fitted.compiled)), std::move(fitted.report)};
  });
}

Result<FitForXla> Session::fit_for_xla(const Module& module, std::optional<int64_t> limit) const {
  return guarded([&]() -> Result<FitForXla> {
    const Call call(*state_);
    engine::Input own = call.own(module.state().input);
    if (!module.state().dump.empty()) {  // what XLA takes, not what it made of it
      LT_TAKE(own, engine::read_input(module.state().dump, engine::InputStage::kBeforeXla, call.context()));
      own.module->sums_in_order = state_->options.exact;
    }
    LT_TAKE(engine::FittedForXla fitted, engine::fit_for_xla(own, engine::xla_target(), limit));
    engine::Input rewritten;
    rewritten.module = std::move(fitted.module);
    rewritten.module->set_context(state_->context);
    return FitForXla{module_of(std::move(rewritten)), std::move(fitted.report)};
  });
}

Result<Plan> Session::replay(const Module& module, std::string_view text) const {
  return guarded([&]() -> Result<Plan> {
    const Call call(*state_);
    std::shared_ptr<engine::Module> own = call.own(*module.state().input.module);
    LT_TAKE(engine::Compiled compiled, engine::plan_from_text(*own, text, "the plan"));
    return plan_of(std::move(own), std::move(compiled));
  });
}

void Session::cancel() const {
  const std::lock_guard lock(state_->mutex);
  for (engine::Context* call : state_->calls) call->stop().ask();
}

}  // namespace lowtide
