#include "compile/what_to_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "analysis/leaf_bytes.h"
#include "compile/frontier.h"
#include "compile/halve_dimensions.h"
#include "report/arguments.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kCrumbs = 100;         ///< of the largest donation: smaller parts don't count
constexpr int64_t kSearchedAgain = 500;  ///< most instructions of a module whose free plan is searched again

struct Leaf {
  int64_t parameter = 0;
  ShapeIndex index;
  const Shape* shape = nullptr;
};

/// Arguments that aren't donated, and results that don't alias an argument, each in order.
void free_leaves(const Module& module, std::vector<Leaf>& arguments, std::vector<Leaf>& results) {
  const auto is_taken = [&](int64_t parameter, const ShapeIndex& index) {
    const bool aliased = std::ranges::any_of(module.input_output_alias, [&](const AliasEntry& alias) {
      return alias.operand == parameter && alias.operand_index == index;
    });
    return aliased || std::ranges::any_of(module.buffer_donors, [&](const Module::Donor& donor) {
             return donor.parameter == parameter && donor.index == index;
           });
  };
  const std::vector<Instruction*> parameters = module.entry->parameters();
  for (size_t k = 0; k < parameters.size(); ++k) {
    if (parameters[k] == nullptr) continue;
    for_each_leaf(parameters[k]->shape, [&](const ShapeIndex& index, const Shape& leaf) {
      const auto number = static_cast<int64_t>(k);
      if (leaf.is_array() && !is_taken(number, index)) arguments.push_back({number, index, &leaf});
    });
  }
  if (module.entry->root == nullptr) return;
  for_each_leaf(module.entry->root->shape, [&](const ShapeIndex& index, const Shape& leaf) {
    const bool taken =
        std::ranges::any_of(module.input_output_alias, [&](const AliasEntry& alias) { return alias.output == index; });
    if (leaf.is_array() && !taken) results.push_back({-1, index, &leaf});
  });
}

/// Pairs each result, in order, with the first free argument of its type, as JAX does.
void pair_up(const std::vector<Leaf>& arguments, const std::vector<Leaf>& results, Donatable& donated) {
  std::vector<bool> taken(arguments.size());
  for (const Leaf& result : results) {
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (taken[k] || !same_shape(*arguments[k].shape, *result.shape)) continue;
      taken[k] = true;
      donated.aliases.push_back({result.index, arguments[k].parameter, arguments[k].index, /*must_alias=*/false});
      donated.bytes = add_bytes(donated.bytes, padded_bytes(*result.shape));
      break;
    }
  }
}

constexpr const char* kWhichArgument =
    "donate the Python argument that holds it (donate_argnums counts those, not parameters of the module)";
constexpr const char* kWhichArguments = "donate the Python arguments that hold them";

/// The change for quoted `names`; for the names in `unclear`, `a` and `*a` can't be distinguished.
std::string by_names(const std::vector<std::string>& names, const std::vector<std::string>& unclear) {
  std::string change =
      fmt::format("jax.jit(..., donate_argnames=({}{})), where the caller reads {} no more", fmt::join(names, ", "),
                  names.size() == 1 ? "," : "", names.size() == 1 ? "it" : "them");
  for (const std::string& name : unclear) change += fmt::format(" ({0} is one argument, not *{0})", name);
  return change;
}

std::vector<std::string> unclear_of(const PythonArgument& python) {
  if (python.name.empty() || python.is_certain) return {};
  return {python.name};
}

}  // namespace

std::unique_ptr<Module> Donatable::applied(const Module& module) const {
  std::unique_ptr<Module> donated = module.clone();
  donated->input_output_alias.insert(donated->input_output_alias.end(), aliases.begin(), aliases.end());
  return donated;
}

std::vector<Donatable> donatable(const Module& module) {
  std::vector<Leaf> arguments, results;
  free_leaves(module, arguments, results);
  const std::vector<Instruction*> parameters = module.entry->parameters();
  const std::vector<PythonArgument> pythons = python_arguments(module);
  const auto python_of = [&](const Leaf& leaf) { return pythons[leaf.parameter]; };
  std::vector<Donatable> found;
  std::vector<std::string> names, unclear;  ///< of Python arguments; `names` are quoted
  for (size_t k = 0; k < arguments.size();) {
    const PythonArgument python = python_of(arguments[k]);
    std::vector<Leaf> own = {arguments[k++]};
    while (!python.name.empty() && k < arguments.size() && python_of(arguments[k]) == python) {
      own.push_back(arguments[k++]);
    }
    Donatable donated;
    pair_up(own, results, donated);
    if (donated.aliases.empty()) continue;
    for (const Leaf& leaf : own) donated.parameters.push_back(leaf.parameter);
    const Instruction& first = *parameters[own[0].parameter];
    const std::string path = argument_path(first, own[0].index), type = to_string_without_layout(*own[0].shape);
    if (python.name.empty()) {
      const std::string told = first.metadata.op_name.empty() ? "" : path + ", ";
      donated.what = fmt::format("donate parameter {} of the module ({}%{}, {}): a result of its type lives in it",
                                 own[0].parameter, told, first.name, type);
      donated.user_change = kWhichArgument;
    } else {
      donated.what = own.size() == 1 ? fmt::format("donate {} ({}): a result of its type lives in it", path, type)
                                     : fmt::format("donate {} ({} ...): results live in {} of its {} arrays",
                                                   python.name, path, donated.aliases.size(), own.size());
      donated.user_change = by_names({"\"" + python.name + "\""}, unclear_of(python));
    }
    if (!python.name.empty()) names.push_back("\"" + python.name + "\"");
    for (const std::string& name : unclear_of(python)) unclear.push_back(name);
    found.push_back(std::move(donated));
  }
  if (found.size() < 2) return found;
  Donatable all;
  pair_up(arguments, results, all);
  for (const Donatable& one : found) {
    all.parameters.insert(all.parameters.end(), one.parameters.begin(), one.parameters.end());
  }
  all.what = fmt::format("donate all that results can live in: {} arrays", all.aliases.size());
  all.user_change = names.size() == found.size() ? by_names(names, unclear) : kWhichArguments;
  std::ranges::stable_sort(found, [](const Donatable& a, const Donatable& b) { return a.bytes > b.bytes; });
  if (found.size() > kMostDonations) found.resize(kMostDonations);
  // Far smaller donations than the largest aren't worth the copies that a compiler may make for them.
  if (all.bytes - found[0].bytes > found[0].bytes / kCrumbs) found.push_back(std::move(all));
  return found;
}

std::optional<int64_t> peak_of(const Module& module, const Target& target, const Decisions& decisions) {
  const auto compiled = compile_plan(module, target, decisions, {.quiet = true});
  if (!compiled.ok()) return std::nullopt;
  return compiled->program->peak_bytes();
}

std::optional<int64_t> free_peak_of(const Module& module, const Target& target, const Decisions& decisions) {
  if (module.instruction_count() > kSearchedAgain) return peak_of(module, target, decisions);
  const auto compiled = compile_plan(module, target);
  if (!compiled.ok()) return std::nullopt;
  return compiled->program->peak_bytes();
}

std::vector<ChangeRow> donations_that_save(const Module& module, const Target& target, const Decisions& decisions,
                                           int64_t peak) {
  std::vector<ChangeRow> changes;
  for (const Donatable& donated : donatable(module)) {
    const auto lower = peak_of(*donated.applied(module), target, decisions);
    if (lower && *lower < peak) changes.push_back({donated.what, donated.user_change, peak - *lower, *lower});
  }
  return changes;
}

Result<std::vector<ChangeRow>> sums_in_any_order(const Module& module, const Target& target, int64_t peak) {
  std::vector<ChangeRow> changes;
  if (!module.sums_in_order) return changes;
  const auto relaxed = module.clone();
  relaxed->sums_in_order = false;
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(*relaxed, target));
  LT_ASSIGN_OR_RETURN(const Frontier frontier, find_frontier(planner));
  const int64_t lower = frontier.tightest().peak_bytes;
  if (lower < peak) changes.push_back({"allow sums in another order", "leave out --exact", peak - lower, lower});
  return changes;
}

Result<std::vector<ChangeRow>> what_to_change(const Module& module, const Compiled& best) {
  Stage stage(module.context().progress(), "looking for what could change", module.sums_in_order ? 3 : 2);
  std::vector<ChangeRow> changes =
      donations_that_save(module, *best.target, best.decisions, best.program->peak_bytes());
  stage.add(1);
  LT_ASSIGN_OR_RETURN(std::vector<ChangeRow> halved, halve_dimensions(module, best));
  stage.add(1);
  changes.insert(changes.end(), halved.begin(), halved.end());
  LT_ASSIGN_OR_RETURN(const std::vector<ChangeRow> relaxed,
                      sums_in_any_order(module, *best.target, best.program->peak_bytes()));
  changes.insert(changes.end(), relaxed.begin(), relaxed.end());
  std::stable_sort(changes.begin(), changes.end(),
                   [](const ChangeRow& a, const ChangeRow& b) { return a.bytes > b.bytes; });
  return changes;
}

}  // namespace lowtide::engine
