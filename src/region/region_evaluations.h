#pragma once
/// How often, and with which index maps, a region evaluates each of its operations and reads each of its inputs.

#include <vector>

#include "analysis/evaluations.h"
#include "region/region.h"

namespace lowtide::engine {

struct RegionEvaluations {
  std::vector<std::vector<Evaluations>> ops, inputs;  ///< in the region's order
};

RegionEvaluations evaluations_in(const Region& region);

/// Is it an output that is computed as a running fold?
bool folds_into_output(const Region& region, const Instruction& i);

/// Per input: is its element i read only for element i of the outputs, which all have its extents? Then an output may
/// alias it.
std::vector<bool> inputs_read_in_step(const Region& region);

double total(const std::vector<Evaluations>& all);
/// Merges evaluations with those through an equal index map.
void add_evaluations(std::vector<Evaluations>& all, const Evaluations& more);

}  // namespace lowtide::engine
