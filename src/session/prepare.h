#pragma once
/// Makes the plan that a session runs for a module; plans are cached along with the kernels.

#include <optional>

#include "compile/frontier.h"
#include "compile/largest_extent.h"

namespace lowtide::engine {

/// The free plan if it meets the limit or there is none; otherwise the fastest plan within it: searched for once, then
/// replayed from the cache of the module's context. Cached decisions aren't trusted: planning checks that they are
/// valid, and a plan that exceeds the limit, or can't be made, is searched for again. An error of kind kLimit names the
/// lowest peak found, to which `tightest` is set.
Result<Compiled> kept_plan_within(const Module& module, const Target& target, std::optional<int64_t> limit,
                                  std::optional<int64_t>* tightest = nullptr);

/// The peak of the free plan if that is within the limit, else of the fastest within it, else of the lowest found.
Result<PeakAndTime> peak_within(Module& module, const Target& target, int64_t limit);

/// The plan in a plan's text, for a module with its sums in the order that the text asks for (Module::sums_in_order is
/// set). named: the file, for messages.
Result<Compiled> plan_from_text(Module& module, const Target& target, std::string_view text, const std::string& named);

/// Refuses a program that doesn't fit in memory, before the machine starts to swap. An error of kind kLimit.
Status check_memory(const Program& program);

}  // namespace lowtide::engine
