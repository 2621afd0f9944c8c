#pragma once
/// The walk that the passes which stream without a search share: around the largest values of each computation.

#include <functional>
#include <optional>
#include <vector>

#include "passes/pass.h"
#include "region/value_graph.h"
#include "region/virtual_values.h"

namespace lowtide::engine {

inline constexpr size_t kMostSeeds = 6;             ///< tried for one cluster
inline constexpr double kLeastSeedBytes = 2 << 20;  ///< smaller values don't determine the peak
inline constexpr double kLeastHiddenBytes = 2 << 20;
inline constexpr double kMostOverhead = 0.03;  ///< of the cluster's time

/// A stream that was written.
struct Streamed {
  double hidden_bytes = 0;
  std::vector<Computation*> bodies;  ///< in which streams are tried, too
};

struct StreamsOfLargest {
  int most_clusters = 0;  ///< per computation
  int deepest = 0;        ///< of streams in bodies of streams
  /// Are computations that this instruction calls streamed, too?
  std::function<bool(const Instruction&)> enters;
  /// Writes the best stream of a computation, if one is worth it.
  std::function<Result<std::optional<Streamed>>(Computation&, const ValueGraph&, const std::vector<ValueState>&)>
      stream;
};

/// Streams in all computations from the entry on.
Result<PassResult> stream_largest(Module& module, const Target& target, const StreamsOfLargest& streams);

}  // namespace lowtide::engine
