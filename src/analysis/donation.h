#pragma once
/// Arguments whose bytes the program may take over, and the results that live in them.

#include <vector>

#include "analysis/partitioning.h"

namespace lowtide::engine {

struct Donation {
  /// Result leaf `result` of the root lives in entry leaf `argument` (a leaf of the entry computation).
  struct Pair {
    int32_t argument = 0;
    int32_t result = 0;
    int64_t bytes = 0;  ///< in main memory
  };
  std::vector<Pair> pairs;
  std::vector<bool> donated;  ///< by leaf of the entry computation
  int64_t alias_bytes() const;
};

/// As declared by input_output_alias; with donors, also each buffer_donor that has the bytes of a result still free.
Donation find_donation(const Module& module, const Leaves& leaves, const Partitioning& sizes, bool with_donors);

}  // namespace lowtide::engine
