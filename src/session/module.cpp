#include "lowtide/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analysis/account.h"
#include "analysis/flops.h"
#include "analysis/partitioning.h"
#include "ir/entry_notes.h"
#include "ir/side_effects.h"
#include "ops/host_call.h"
#include "ops/verify.h"
#include "passes/each_device.h"
#include "passes/lay_out_arrays.h"
#include "passes/tokens_as_arrays.h"
#include "report/build.h"
#include "report/tensor_names.h"
#include "session/guard.h"
#include "session/state.h"
#include "text/bytecode.h"
#include "text/hlo.h"
#include "text/stablehlo.h"

namespace lowtide {

Module::Module(std::shared_ptr<const State> state) : state_(std::move(state)) {}

const std::string& Module::name() const { return state_->input.module->name; }
int64_t Module::instructions() const { return state_->input.module->instruction_count(); }
std::vector<ProgramArray> Module::arguments() const { return engine::arrays_of_arguments(*state_->input.module); }
std::vector<ProgramArray> Module::results() const { return engine::arrays_of_results(*state_->input.module); }
const std::vector<std::string>& Module::warnings() const { return state_->input.warnings; }
double Module::flops() const { return engine::flops_of(*state_->input.module); }
std::string Module::hlo() const { return engine::print_hlo(*state_->input.module); }

Result<Sizes> Module::as_given() const {
  return engine::guarded([&]() -> Result<Sizes> {
    const engine::Account a = engine::account_for(*state_->input.module, engine::AccountMode::kAsGiven);
    return engine::sizes_of(a);
  });
}

Result<LowerBound> Module::floor_of_order() const {
  return engine::guarded(
      [&]() -> Result<LowerBound> { return engine::lower_bound_of(engine::floor_order(*state_->input.module)); });
}
Result<LowerBound> Module::floor_of_any() const {
  return engine::guarded(
      [&]() -> Result<LowerBound> { return engine::lower_bound_of(engine::floor_any(*state_->input.module)); });
}

Result<void> Module::has_all_values() const {
  return engine::guarded([&]() -> Result<void> {
    LT_PASS(engine::verify_runnable(*state_->input.module));
    return {};
  });
}

Result<void> Module::can_run() const {
  return engine::guarded([&]() -> Result<void> {
    if (std::string why = engine::why_of_many(*state_->input.module); !why.empty())
      return Error{ErrorKind::kUnsupported, std::move(why)};
    return has_all_values();
  });
}

namespace {

engine::Input copy_of(const engine::Input& from) {
  return {from.module->clone(), from.path, from.stage, from.others, from.report, from.warnings};
}

}  // namespace

Result<Module> Module::on_each_device() const {
  return engine::guarded([&]() -> Result<Module> {
    engine::Input input = copy_of(state_->input);
    LT_PASS(engine::become_one_of_many(*input.module));
    LT_PASS(engine::verify(*input.module));
    input.warnings.clear();  // all of them are about devices
    return Module(std::make_shared<State>(std::move(input), state_->dump));
  });
}

Result<Module> Module::giving(int64_t argument) const {
  return engine::guarded([&]() -> Result<Module> {
    engine::Input input = copy_of(state_->input);
    int64_t number = 0;
    bool found = false;
    const std::vector<engine::Instruction*> parameters = input.module->entry->parameters();
    for (size_t p = 0; p < parameters.size(); ++p) {
      if (!parameters[p]) continue;
      engine::for_each_leaf(parameters[p]->shape, [&](const engine::ShapeIndex& index, const engine::Shape& leaf) {
        if (!leaf.is_array() || number++ != argument) return;
        input.module->buffer_donors.push_back({static_cast<int64_t>(p), index});
        found = true;
      });
    }
    if (!found) return Error{ErrorKind::kUsage, fmt::format("found argument {} of {}", argument, number)};
    return Module(std::make_shared<State>(std::move(input), state_->dump));
  });
}

Result<Module> Module::with_tokens_as_arrays() const {
  return engine::guarded([&]() -> Result<Module> {
    engine::Input input = copy_of(state_->input);
    engine::make_tokens_arrays(*input.module);
    return Module(std::make_shared<State>(std::move(input), state_->dump));
  });
}

Result<LaidOut> Module::laid_out() const {
  return engine::guarded([&]() -> Result<LaidOut> {
    engine::Input input = copy_of(state_->input);
    LT_TAKE(engine::Orders orders, engine::lay_out_arrays(*input.module));
    return LaidOut{Module(std::make_shared<State>(std::move(input), state_->dump)), std::move(orders.arguments),
                   std::move(orders.results)};
  });
}

std::vector<HostCallSite> Module::host_calls() const {
  std::vector<HostCallSite> sites;
  for (const auto& computation : state_->input.module->computations()) {
    for (const auto& i : computation->instructions()) {
      if (!engine::is_host_call(*i)) continue;
      HostCallSite site{std::string(engine::host_function_name(*i)), engine::host_call_config(*i),
                        engine::has_side_effect(*i)};
      if (std::ranges::find(sites, site) == sites.end()) sites.push_back(std::move(site));
    }
  }
  return sites;
}

Result<std::string> Module::stablehlo() const {
  return engine::guarded([&]() -> Result<std::string> {
    LT_TAKE(std::string text, engine::print_stablehlo(*state_->input.module));
    return text;
  });
}

Result<std::string> Module::bytecode() const {
  return engine::guarded([&]() -> Result<std::string> {
    LT_TAKE(std::string bytes, engine::print_bytecode(*state_->input.module));
    return bytes;
  });
}

namespace engine {
namespace {

/// kinds: memory kinds by the value's leaf; leaves beyond the last have none.
void add_arrays(const Instruction& value, const std::vector<std::string>& paths, std::span<const std::string> kinds,
                std::vector<ProgramArray>& arrays) {
  const Sharding* const whole = value.sharding.get();
  size_t number = 0;
  for_each_leaf(value.shape, [&](const ShapeIndex&, const Shape& leaf) {
    const bool by_leaf = whole && whole->kind == ShardingKind::kTuple;
    const Sharding* const said = !by_leaf ? whole : number < whole->parts.size() ? &whole->parts[number] : nullptr;
    const std::string kind = number < kinds.size() ? kinds[number] : std::string();
    ++number;
    if (!leaf.is_array()) return;
    ProgramArray array{.path = {}, .type = std::string(type_name(leaf.type)), .dims = leaf.dims};
    if (arrays.size() < paths.size()) array.path = paths[arrays.size()];
    array.bytes = logical_bytes(Shape::array(leaf.type, leaf.dims));
    if (said) array.sharding = said->text;
    array.memory_kind = kind;
    arrays.push_back(std::move(array));
  });
}

}  // namespace

std::vector<ProgramArray> arrays_of_arguments(const Module& module) {
  std::vector<ProgramArray> arrays;
  const std::vector<std::string> paths = argument_paths(module);
  std::vector<std::pair<int64_t, ShapeIndex>> given;  // donated leaves: (parameter, index)
  for (const AliasEntry& alias : module.input_output_alias) given.emplace_back(alias.operand, alias.operand_index);
  for (const Module::Donor& donor : module.buffer_donors) given.emplace_back(donor.parameter, donor.index);
  const std::vector<std::string> kinds = entry_notes(module, EntrySide::kArguments, EntryNote::kMemoryKind);
  const std::vector<Instruction*> parameters = module.entry->parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (!parameters[p]) continue;
    const size_t before = arrays.size();
    add_arrays(*parameters[p], paths,
               std::span(kinds).subspan(std::min(p, kinds.size())).first(p < kinds.size() ? 1 : 0), arrays);
    size_t at = before;
    for_each_leaf(parameters[p]->shape, [&](const ShapeIndex& index, const Shape& leaf) {
      if (!leaf.is_array()) return;
      for (const auto& [number, given_index] : given) {
        if (number == static_cast<int64_t>(p) && given_index == index) arrays[at].can_be_donated = true;
      }
      ++at;
    });
  }
  return arrays;
}

std::vector<ProgramArray> arrays_of_results(const Module& module) {
  std::vector<ProgramArray> arrays;
  add_arrays(*module.entry->root, result_paths(module),
             entry_notes(module, EntrySide::kResults, EntryNote::kMemoryKind), arrays);
  return arrays;
}

}  // namespace engine
}  // namespace lowtide
