#pragma once
/// Operands that stand in a result byte for byte, by what the operations say: joined along the outermost dimension that
/// counts, under whatever shape. Kernels of few elements choose between them by comparing indices, and their accesses
/// don't show it.

#include <vector>

#include "region/region.h"

namespace lowtide::engine {

/// Bytes [begin, begin + bytes) of the result are all of the input.
struct StandingRun {
  int32_t input = kNoId;
  int64_t begin = 0, bytes = 0;
};

/// Of output `output`, in no order; none of an update in place, most of which comes from elsewhere.
std::vector<StandingRun> standing_runs(const Region& region, size_t output);

}  // namespace lowtide::engine
