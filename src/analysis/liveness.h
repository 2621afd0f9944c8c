#pragma once
/// The live range of each value: from the step that defines it to its last reader, both included.

#include <vector>

#include "analysis/values.h"

namespace lowtide::engine {

/// Indexed by leaf of the timeline; meaningful for leaves that define values.
struct Liveness {
  std::vector<Step> first, last;                ///< first is kNoStep if the leaf has no step
  std::vector<const Instruction*> last_reader;  ///< null: none, or the value is a result of the program
  std::vector<bool> is_result;                  ///< a result of the entry
};

/// Marks instructions that are computed where they are read: they have no step and no buffer, and their readers read
/// their operands instead.
using VirtualFlags = std::vector<bool>;  ///< by instruction id; empty: none

Liveness find_liveness(const Module& module, const Leaves& leaves, const Timeline& timeline, const Values& values,
                       const Donation& donation, const VirtualFlags& is_virtual);

}  // namespace lowtide::engine
