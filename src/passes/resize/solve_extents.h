#pragma once
/// Solves for new extents of all atoms, given wishes for some: relations have priority, and what can't change stays.

#include <functional>

#include "passes/resize/extents.h"

namespace lowtide::engine {

struct SolvedExtents {
  std::vector<int64_t> values;        ///< by atom; unset for split atoms
  std::vector<ExtentReason> reasons;  ///< of atoms that keep their extent against the wish

  int64_t of(const Product& whole) const;
  int64_t of(const ExtentSum& sum, const Atoms& atoms) const;
};

/// wish: maps an atom and its extent to the wanted one. Small atoms are set first, with all consequences; if the
/// relations can't hold, the atoms of the violated one keep their extents, and solving starts again.
SolvedExtents solve_extents(const ModuleExtents& extents, const std::function<int64_t(int32_t, int64_t)>& wish);

}  // namespace lowtide::engine
