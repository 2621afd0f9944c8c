#pragma once
/// How the processor runs a kernel step otherwise than as its nest stands. Only targets whose ways to write in place go
/// beyond InPlaceWays::kKernels are handed strips and rearrangements; whoever knows nothing of idle pieces runs them
/// too, and they write what is there already.

#include <optional>
#include <vector>

#include "schedule/rearrange.h"
#include "schedule/strips.h"

namespace lowtide::engine {

/// One of the three.
struct KernelWay {
  std::vector<int32_t> idle;                   ///< pieces of the nest, ascending, that would only write what is there
  std::optional<Strips> strips;                ///< results lie over operands that are still read: tile by tile
  std::optional<Rearrangement> rearrangement;  ///< the result lies where the operand lay, which is moved: no code runs

  /// Of the step's scratch.
  int64_t scratch_bytes() const {
    return strips ? strips->scratch_bytes : rearrangement ? rearrangement->scratch_bytes : 0;
  }
};

}  // namespace lowtide::engine
