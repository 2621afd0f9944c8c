#pragma once
/// Solves for new extents of all atoms, given wishes for some: relations have priority, and what can't change stays.

#include <functional>

#include "passes/resize/extents.h"

namespace lowtide::engine {

struct SolvedExtents {
  std::vector<int64_t> values;        ///< by atom; of those that are made of others nothing
  std::vector<ExtentReason> reasons;  ///< of those that stay though something else was wished

  int64_t of(const Product& whole) const;
  int64_t of(const ExtentSum& sum, const Atoms& atoms) const;
};

/// wish: maps an atom and its extent to the wanted one. Small atoms are set first, with all consequences; if the
/// relations can't hold, the atoms of the violated one keep their extents, and solving starts again.
SolvedExtents solve_extents(const ModuleExtents& extents, const std::function<int64_t(int32_t, int64_t)>& wish);

}  // namespace lowtide::engine
