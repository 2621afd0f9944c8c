#pragma once
/// When each value is needed: from the step that defines it to its last reader, both included.

#include <vector>

#include "analysis/values.h"

namespace lowtide::engine {

/// Per leaf of the timeline; meaningful at those that define values.
struct Liveness {
  std::vector<Step> first, last;                ///< first is kNoStep where the leaf has no step
  std::vector<const Instruction*> last_reader;  ///< null: nobody, or the program's result
  std::vector<bool> is_result;                  ///< a result of the entry
};

/// Instructions computed where they are read: no step, no buffer; their readers read their operands instead.
using VirtualFlags = std::vector<bool>;  ///< by instruction id; empty: none

Liveness find_liveness(const Module& module, const Leaves& leaves, const Timeline& timeline, const Values& values,
                       const Donation& donation, const VirtualFlags& is_virtual);

}  // namespace lowtide::engine
