#pragma once
/// Temporaries in memory that is there anyway: a donated argument behind its last reader, an output before its result.

#include "schedule/coalesce.h"

namespace lowtide {

struct Hosting {
  std::vector<int32_t> host;    ///< by class: the class in whose memory it lies; kNoId: its own
  std::vector<int64_t> offset;  ///< in that memory, bytes
};

/// alive: by class. Takes from the arena what is alive where most is, largest first.
Hosting find_hosts(const Classes& classes, const std::vector<LivePieces>& alive, Step steps);

}  // namespace lowtide
