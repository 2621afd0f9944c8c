#pragma once
/// When the bytes of each value are needed: exact on all paths. A carry's bytes are free in the body between its last
/// reader and the computation of its next value; a value that only one branch reads is dead in the others.

#include "schedule/flow.h"

namespace lowtide::engine {

/// Pieces of the timeline, [born, dies) each, sorted, disjoint; two that touch meet where the value is computed anew.
using LivePieces = std::vector<Lifetime>;

/// Sorted and disjoint; pieces that touch become one.
LivePieces united(LivePieces pieces);

struct LiveRanges {
  std::vector<LivePieces> of;                   ///< by value
  std::vector<const Instruction*> last_reader;  ///< by value; null if nothing reads it
};

LiveRanges find_live_ranges(const Flow& flow, const ValueTable& values);

}  // namespace lowtide::engine
