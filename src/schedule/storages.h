#pragma once
/// Classes of values become storages: arguments, outputs, constants, and what the arena packs.

#include "schedule/host.h"
#include "schedule/in_place.h"
#include "schedule/program.h"
#include "schedule/rotate.h"

namespace lowtide::engine {

struct Placed {
  std::vector<Storage> storages;
  std::vector<Slot> slots;        ///< by class
  std::vector<LivePieces> alive;  ///< by class
  Hosting hosting;
  KnownPlacement packing;
  int64_t load_bytes = 0;
  std::vector<int64_t> live;  ///< arena bytes by step

  int64_t temp_bytes() const { return packing.placement.height; }
};

/// useless: an arena that is as large needn't be packed any better.
Placed place(const Flow& flow, const ValueTable& values, const Classes& classes, const LiveRanges& live,
             const LoopMovesOf& loop_moves, NestCache& nests, const Packings& packings, InPlaceWays ways,
             Bytes useless);

}  // namespace lowtide::engine
