#pragma once
/// How the CPU backend runs a kernel step differently from its plain nest. Only targets whose in-place ways go beyond
/// InPlaceWays::kKernels receive strips and rearrangements; a backend that ignores idle pieces runs them too, and they
/// write the values that are there already.

#include <optional>
#include <vector>

#include "schedule/rearrange.h"
#include "schedule/strips.h"

namespace lowtide::engine {

/// Only one of the three is set.
struct KernelWay {
  std::vector<int32_t> idle;     ///< pieces of the nest, ascending, that would only write what is already there
  std::optional<Strips> strips;  ///< tile by tile, since results lie over operands that are still read
  std::optional<Rearrangement> rearrangement;  ///< the result is made in place by moving the operand: no code runs

  /// Bytes of the step's scratch.
  int64_t scratch_bytes() const {
    return strips ? strips->scratch_bytes : rearrangement ? rearrangement->scratch_bytes : 0;
  }
};

}  // namespace lowtide::engine
