#pragma once
/// New extents for all atoms, from wishes for some: what relations demand comes first, and what can't change stays.

#include <functional>

#include "passes/resize/extents.h"

namespace lowtide::engine {

struct SolvedExtents {
  std::vector<int64_t> values;        ///< by atom; of those that are made of others nothing
  std::vector<ExtentReason> reasons;  ///< of those that stay though something else was wished

  int64_t of(const Product& whole) const;
  int64_t of(const ExtentSum& sum, const Atoms& atoms) const;
};

/// wish: of an atom and its extent, the one it should have. Small atoms are given theirs first, and what follows of
/// them; where the relations can't hold, the atoms of the broken one stay as they are, and it begins anew.
SolvedExtents solve_extents(const ModuleExtents& extents, const std::function<int64_t(int32_t, int64_t)>& wish);

}  // namespace lowtide::engine
