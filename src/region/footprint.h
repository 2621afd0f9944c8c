#pragma once
/// The bytes that a kernel reads and writes, and its arithmetic.

#include "region/region.h"
#include "target/cost.h"

namespace lowtide::engine {

struct Footprint {
  int64_t bytes_read = 0;                      ///< of inputs, each element once
  int64_t bytes_written = 0;                   ///< of outputs; of in-place updates only the part that changes
  std::vector<int64_t> of_inputs, of_outputs;  ///< the same bytes, by number
  double evaluations = 0;                      ///< elements that operations compute, recomputed ones counted each time
  double arithmetic_ns = 0;                    ///< of these evaluations, on one core
  double rows_ns = 0;  ///< of moving from row to row when boxes of arrays are read or written, on one core
};

Footprint footprint(const Region& region, const Cost& cost);

}  // namespace lowtide::engine
