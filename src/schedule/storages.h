#pragma once
/// Turns classes of values into storages: arguments, outputs, constants, and temporaries packed in the arena.

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
  int64_t host_temp_bytes = 0;  ///< the arena in host memory
  int64_t load_bytes = 0;
  std::vector<int64_t> live;  ///< arena bytes by step

  int64_t temp_bytes() const { return packing.placement.height; }
};

/// useless: an arena of at least this size isn't packed: it has a height, but its storages have no offsets.
Placed place(const Flow& flow, const ValueTable& values, const Classes& classes, const LiveRanges& live,
             const LoopMovesOf& loop_moves, NestCache& nests, const Packings& packings, InPlaceWays ways,
             Bytes useless);

}  // namespace lowtide::engine
