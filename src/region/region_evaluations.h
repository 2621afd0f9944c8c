#pragma once
/// How often a region evaluates each of its operations, and reads each of its inputs, under which index maps.

#include <vector>

#include "analysis/evaluations.h"
#include "region/region.h"

namespace lowtide::engine {

struct RegionEvaluations {
  std::vector<std::vector<Evaluations>> ops, inputs;  ///< in the region's order
};

RegionEvaluations evaluations_in(const Region& region);

/// By input: is element i of it read for element i of the outputs alone, which all have its extents? Then an output may
/// be written over it.
std::vector<bool> inputs_read_in_step(const Region& region);

double total(const std::vector<Evaluations>& all);
/// Joins evaluations through a map that is known already with those.
void add_evaluations(std::vector<Evaluations>& all, const Evaluations& more);

}  // namespace lowtide::engine
