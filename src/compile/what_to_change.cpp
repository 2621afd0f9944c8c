#include "compile/what_to_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "compile/frontier.h"
#include "compile/halve_dimensions.h"
#include "report/arguments.h"

namespace lowtide {
namespace {

/// Peak of the changed module by the same decisions; nothing where they don't apply to it.
std::optional<int64_t> peak_of(const Module& module, const Decisions& decisions) {
  const auto compiled = compile_plan(module, decisions, {.quiet = true});
  if (!compiled.ok()) return std::nullopt;
  return compiled->program->peak_bytes();
}

std::vector<ArgumentRow> donatable(const Module& module) {
  const Graph graph(module);
  std::vector<ArgumentRow> rows = argument_rows(graph, account_for(module, AccountMode::kAsGiven), Categories(graph));
  std::erase_if(rows, [](const ArgumentRow& row) { return row.fate != Fate::kCouldBeDonated; });
  if (rows.size() > kMostDonations) rows.resize(kMostDonations);  // largest first
  return rows;
}

}  // namespace

std::vector<ChangeRow> donations_that_save(const Module& module, const Decisions& decisions, int64_t peak) {
  std::vector<ChangeRow> changes;
  const std::vector<Instruction*> parameters = module.entry->parameters();
  const auto all = module.clone();
  std::vector<std::string> numbers;
  for (const ArgumentRow& row : donatable(module)) {
    const auto k = static_cast<size_t>(row.number);
    if (k >= parameters.size() || !parameters[k] || !parameters[k]->shape.is_array()) continue;
    const auto changed = module.clone();
    for (Module* m : {changed.get(), all.get()}) m->buffer_donors.push_back({row.number, {}});
    numbers.push_back(std::to_string(row.number));
    const auto lower = peak_of(*changed, decisions);
    if (!lower || *lower >= peak) continue;
    changes.push_back({fmt::format("donate argument {} ({}, {})", row.number, row.path, row.shape),
                       fmt::format("donate_argnums=({},)", row.number), peak - *lower, *lower});
  }
  if (numbers.size() < 2) return changes;
  const auto lower = peak_of(*all, decisions);
  if (!lower || *lower >= peak) return changes;
  changes.push_back({fmt::format("donate arguments {}", fmt::join(numbers, ", ")),
                     fmt::format("donate_argnums=({})", fmt::join(numbers, ", ")), peak - *lower, *lower});
  return changes;
}

Result<std::vector<ChangeRow>> sums_in_any_order(const Module& module, Executor executor, int64_t peak) {
  std::vector<ChangeRow> changes;
  if (!module.sums_in_order) return changes;
  const auto relaxed = module.clone();
  relaxed->sums_in_order = false;
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(*relaxed, executor));
  LT_ASSIGN_OR_RETURN(const Frontier frontier, find_frontier(planner));
  const int64_t lower = frontier.tightest().peak_bytes;
  if (lower < peak) changes.push_back({"allow sums in another order", "leave out --exact", peak - lower, lower});
  return changes;
}

Result<std::vector<ChangeRow>> what_to_change(const Module& module, const Compiled& best) {
  std::vector<ChangeRow> changes = donations_that_save(module, best.decisions, best.program->peak_bytes());
  LT_ASSIGN_OR_RETURN(std::vector<ChangeRow> halved, halve_dimensions(module, best));
  changes.insert(changes.end(), halved.begin(), halved.end());
  LT_ASSIGN_OR_RETURN(const std::vector<ChangeRow> relaxed,
                      sums_in_any_order(module, Executor::kLowtide, best.program->peak_bytes()));
  changes.insert(changes.end(), relaxed.begin(), relaxed.end());
  std::stable_sort(changes.begin(), changes.end(),
                   [](const ChangeRow& a, const ChangeRow& b) { return a.bytes > b.bytes; });
  return changes;
}

}  // namespace lowtide
