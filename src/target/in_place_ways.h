#pragma once
/// Ways in which a result may alias an operand that is still read, and the least sizes for which they are worthwhile.

#include <cstdint>

namespace lowtide::engine {

/// Each way includes those before.
enum class InPlaceWays : uint8_t {
  kNone,     ///< never; results share bytes with nothing that is live at the same time
  kKernels,  ///< elements are written where they were read
  kStrips,   ///< tile by tile, with scratch
  kMoves,    ///< transposed or reversed in place, which may take longer
};

/// Strips (schedule/strips.h): scratch for a tile of a result and for bytes before it that are still read.
struct StripLimits {
  int64_t least_bytes = int64_t{64} << 10;    ///< of a result; smaller ones aren't worth it
  int64_t wanted_bytes = int64_t{512} << 10;  ///< of a tile
  int64_t share = 4;                          ///< scratch takes at most 1/share
};

struct InPlaceLimits {
  InPlaceWays ways = InPlaceWays::kMoves;  ///< the last way that the target supports
  StripLimits strips;
};

}  // namespace lowtide::engine
