#pragma once
/// Donated arguments, whose bytes the program may overwrite, and the results stored in them.

#include <vector>

#include "analysis/partitioning.h"

namespace lowtide::engine {

struct Donation {
  /// Leaf `result` of the root is stored in leaf `argument` of the entry computation.
  struct Pair {
    int32_t argument = 0;
    int32_t result = 0;
    int64_t bytes = 0;  ///< in main memory
  };
  std::vector<Pair> pairs;
  std::vector<bool> donated;  ///< by leaf of the entry computation
  int64_t alias_bytes() const;
};

/// The donations that input_output_alias declares; `with_donors`: also the buffer_donors, each paired with a remaining
/// result of the same size if there is one.
Donation find_donation(const Module& module, const Leaves& leaves, const Partitioning& sizes, bool with_donors);

}  // namespace lowtide::engine
