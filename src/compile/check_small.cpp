#include "compile/check_small.h"

#include <fmt/format.h>

#include <algorithm>

#include "compile/compare_plans.h"
#include "compile/interpreted_time.h"
#include "compile/scale_decisions.h"
#include "passes/resize/resize.h"
#include "passes/spoil.h"
#include "passes/stand_in.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

/// The least extents of small instantiations, and the step of which extents are multiples.
constexpr struct {
  int64_t few, step;
} kSmall[] = {{32, 4}, {24, 4}, {16, 4}, {12, 4}, {8, 4}, {6, 2}, {4, 2}, {4, 1}, {3, 1}};

/// The largest that is interpreted quickly; nothing if none is, with the reason in `why`.
Result<std::optional<Resized>> small_instantiation(const Module& module, std::string& why) {
  const ModuleExtents extents(module);
  for (const auto& [few, step] : kSmall) {
    LT_ASSIGN_OR_RETURN(Resized resized, resize(module, extents, small_extents(extents, few, step)));
    const double ns = interpreted_ns(*resized.module);
    if (module.context().shows(DebugLevel::kSchedule, "fit")) {
      module.context().print(fmt::format("fit: small instantiation, {:.3g} s: {}", 1e-9 * ns, resized.summary()));
    }
    if (ns <= kQuickNs) return std::optional<Resized>(std::move(resized));
    why = fmt::format("made as small as it gets it would be interpreted for {:.0f} s", 1e-9 * ns);
    for (const ExtentClass& c : resized.classes) {
      if (c.now <= kSmall[0].few || c.reason.empty()) continue;
      why += fmt::format("; {} stays: {}", c.extent, c.reason);
      break;
    }
  }
  return std::optional<Resized>();
}

/// Plans of a small module with only the first of its decisions.
class SmallPlans {
 public:
  SmallPlans(std::shared_ptr<const Module> shared, const Target& target, const std::vector<ScaledDecision>& scaled,
             size_t control)
      : shared_(std::move(shared)), target_(target), scaled_(scaled), control_(control) {}

  Result<Compiled> operator()(size_t count) const {
    std::shared_ptr<const Module> last = shared_;
    Decisions taken;
    size_t number = 0;
    for (const ScaledDecision& s : scaled_) {
      const bool counts = !std::holds_alternative<WithoutPass>(s.decision);
      if (counts && ++number > count) continue;
      if (!s.applies) continue;
      taken.push_back(s.decision);
      if (counts) last = s.behind;
    }
    std::shared_ptr<Module> streamed = last->clone();
    if (streamed->context().shows(DebugLevel::kAll, "check")) streamed->context().print(print_hlo(*streamed));
    if (control_ > 0 && count >= control_) LT_RETURN_IF_ERROR(spoil(*streamed).status());
    return Planner::plan_streamed(std::move(streamed), target_, taken);
  }

 private:
  std::shared_ptr<const Module> shared_;
  const Target& target_;
  const std::vector<ScaledDecision>& scaled_;
  size_t control_;
};

}  // namespace

Status SmallCheck::check(const Module& of, bool is_shared, CheckedFit& checked) const {
  std::string why;
  const std::unique_ptr<Module> runnable = of.clone();
  LT_ASSIGN_OR_RETURN(const PassResult stood_in, stand_in(*runnable));
  LT_ASSIGN_OR_RETURN(std::optional<Resized> resized, small_instantiation(*runnable, why));
  if (!resized) {
    if (checked.how == CheckedFit::How::kNothing && !is_shared) checked.found += "; " + why;
    return {};
  }
  const std::shared_ptr<const Module> small = std::move(resized->module);
  std::optional<Planner> of_small;
  if (is_shared) {
    of_small = Planner::of_shared(small, planner.target());
  } else {
    LT_ASSIGN_OR_RETURN(of_small, Planner::make(*small, planner.target()));
  }
  LT_ASSIGN_OR_RETURN(const auto scaled, scale_decisions(planner, *of_small, decisions));
  CheckedFit mine = checked;
  size_t number = 0;
  for (const ScaledDecision& s : scaled) {
    if (std::holds_alternative<WithoutPass>(s.decision)) continue;
    mine.rows[number] = {checked.rows[number].decision, s.applies ? to_string(s.decision) : "", s.applies};
    ++number;
  }
  const auto comparison = PlanComparison::make(*small, *of_small, backend, true);
  if (!comparison.ok()) {
    // For example, it may need several devices.
    if (comparison.status().fault() != Fault::kUnsupported) return comparison.status();
    if (checked.how == CheckedFit::How::kNothing && !is_shared) checked.found += "; " + comparison.status().message();
    return {};
  }
  const SmallPlans plans(of_small->shared().clone(), planner.target(), scaled, control);
  LT_ASSIGN_OR_RETURN(const Compiled plan, plans(number));
  LT_ASSIGN_OR_RETURN(const std::string wrong, comparison->difference(plan));
  if (!wrong.empty()) {
    LT_ASSIGN_OR_RETURN(const auto first, comparison->first_wrong(number, plans));
    return {Fault::kWrongValues, fmt::format("a small instantiation ({}) differs with {}: {}", resized->summary(),
                                             culprit(mine, first), wrong)};
  }
  if (checked.how == CheckedFit::How::kNothing) checked.found = comparison->agreement();
  if (comparison->vague() == comparison->results()) return {};
  if (checked.how == CheckedFit::How::kNothing) {
    checked.extents = resized->summary();
    checked.found = comparison->agreement();
    if (stood_in.count > 0)
      checked.found += fmt::format("; another function stands for {} that can't be run here", stood_in.note);
  }
  checked.how = CheckedFit::How::kSmall;
  for (size_t k = 0; k < mine.rows.size(); ++k) {
    if (!checked.rows[k].exercised && mine.rows[k].exercised) checked.rows[k] = mine.rows[k];
  }
  return {};
}

}  // namespace lowtide::engine
