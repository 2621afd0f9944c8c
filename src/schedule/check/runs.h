#pragma once
/// Operands that are contained in a result byte for byte, by the operations' definitions: concatenated along the
/// outermost dimension larger than one, possibly in another shape. Kernels with few elements select between them by
/// comparing indices, so their accesses don't show it.

#include <vector>

#include "region/region.h"

namespace lowtide::engine {

/// Bytes [begin, begin + bytes) of the result are all of the input.
struct StandingRun {
  int32_t input = kNoId;
  int64_t begin = 0, bytes = 0;
};

/// The runs of output `output`, in no order; none for an update in place, most of which comes from elsewhere.
std::vector<StandingRun> standing_runs(const Region& region, size_t output);

}  // namespace lowtide::engine
