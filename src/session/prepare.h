#pragma once
/// From a module to the plan that a session runs: what was found before is kept beside the kernels.

#include <optional>

#include "compile/frontier.h"
#include "compile/largest_extent.h"

namespace lowtide::engine {

/// The free plan, where the limit is met by it or absent; otherwise the fastest plan within it: searched once, then
/// recomputed from what the cache of the module's context keeps. What is kept says what to do; planning proves once
/// more that it may be done, and a plan that turns out to need more than there is, or that can't be made, is searched
/// for again. A fault of kind kLimit names the lowest peak found, which `tightest` is set to.
Result<Compiled> kept_plan_within(const Module& module, const Target& target, std::optional<int64_t> limit,
                                  std::optional<int64_t>* tightest = nullptr);

/// Of the free plan where that is within the limit, else of the fastest within it, else of the lowest found.
Result<PeakAndTime> peak_within(Module& module, const Target& target, int64_t limit);

/// The plan in a plan's text, for a module with its sums in the order that the text asks for (Module::sums_in_order is
/// set). named: the file, for messages.
Result<Compiled> plan_from_text(Module& module, const Target& target, std::string_view text, const std::string& named);

/// Refuses what can't be held before the machine starts to swap. A fault of kind kLimit.
Status check_memory(const Program& program);

}  // namespace lowtide::engine
