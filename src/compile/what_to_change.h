#pragma once
/// What the user could change so that a program needs less: each change is made, and planned anew.

#include "compile/planner.h"
#include "report/fit_report.h"

namespace lowtide::engine {

inline constexpr size_t kMostDonations = 4;  ///< planned one by one, the largest

/// Arguments that results could alias: all leaves of one argument of the Python function, or a single one if that can't
/// be determined; after several of them, all together.
struct Donatable {
  std::string what;         ///< "donate state (results live in 38 of its 40 arrays)"
  std::string user_change;  ///< "jax.jit(..., donate_argnames=(\"state\",))"
  std::vector<int64_t> parameters;
  std::vector<AliasEntry> aliases;  ///< results and arguments of one type, paired as JAX pairs them
  int64_t bytes = 0;                ///< of the results that then alias them

  /// The module with these arguments donated.
  std::unique_ptr<Module> applied(const Module& module) const;
};
std::vector<Donatable> donatable(const Module& module);

/// Peak of the changed module with the same decisions; none if they don't apply to it.
std::optional<int64_t> peak_of(const Module& module, const Target& target, const Decisions& decisions);
/// Peak of its own free plan if the module is small, else with these decisions.
std::optional<int64_t> free_peak_of(const Module& module, const Target& target, const Decisions& decisions);

/// Only donations, each planned with the same decisions. Only those that save something.
std::vector<ChangeRow> donations_that_save(const Module& module, const Target& target, const Decisions& decisions,
                                           int64_t peak);

/// The lowest peak of the same module without Module::sums_in_order, found by fit's search; none if the module doesn't
/// have that, or no peak is lower.
Result<std::vector<ChangeRow>> sums_in_any_order(const Module& module, const Target& target, int64_t peak);

/// For the plan `best`: arguments that could be donated, with the same decisions; dimensions of arguments that could be
/// halved (halve_dimensions.h). Only those that save something, most first.
Result<std::vector<ChangeRow>> what_to_change(const Module& module, const Compiled& best);

}  // namespace lowtide::engine
