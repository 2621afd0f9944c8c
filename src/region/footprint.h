#pragma once
/// What a kernel reads, writes and computes.

#include "region/region.h"
#include "target/cost.h"

namespace lowtide::engine {

struct Footprint {
  int64_t bytes_read = 0;                      ///< of inputs, each element once
  int64_t bytes_written = 0;                   ///< of outputs; of updates in place the part that changes
  std::vector<int64_t> of_inputs, of_outputs;  ///< the same bytes, by number
  double evaluations = 0;                      ///< elements of operations, recomputed ones counted as often
  double arithmetic_ns = 0;                    ///< of these, on one core
  double rows_ns = 0;  ///< of going from row to row where boxes of arrays are read or written, on one core
};

Footprint footprint(const Region& region, const Cost& cost);

}  // namespace lowtide::engine
