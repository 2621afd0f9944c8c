#pragma once
/// Places temporaries in memory that exists anyway: in a donated argument after its last reader, in an output before
/// its result.

#include "schedule/coalesce.h"

namespace lowtide::engine {

struct Hosting {
  Hosting() = default;
  explicit Hosting(size_t classes) : host(classes, kNoId), offset(classes, 0), part(classes, false) {}
  std::vector<int32_t> host;    ///< by class: the class in whose memory it lies; kNoId: its own
  std::vector<int64_t> offset;  ///< in that memory, bytes
  std::vector<bool> part;       ///< is it a part of the host's value, at its place there?
};

/// alive: by class. Moves classes that are live at the peak out of the arena, largest first; a class that has a host
/// keeps it.
void find_hosts(const Classes& classes, const std::vector<LivePieces>& alive, Step steps, Hosting& hosting);

}  // namespace lowtide::engine
