#include "passes/stream/stream_largest.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "analysis/leaf_bytes.h"

namespace lowtide::engine {

Result<PassResult> stream_largest(Module& module, const Target& target, const StreamsOfLargest& streams) {
  PassResult result;
  double hidden = 0;
  struct Open {
    Computation* computation;
    int depth;  ///< of nested loops created here
  };
  std::vector<Open> open{{module.entry, 0}};
  std::unordered_set<const Computation*> seen;
  while (!open.empty()) {
    const auto [computation, depth] = open.back();
    open.pop_back();
    if (!seen.insert(computation).second) continue;
    for (const auto& i : computation->instructions()) {
      if (!streams.enters(*i)) continue;
      for (Computation* called : i->called) open.push_back({called, depth});
    }
    // Most computations have no value that is large enough for a cluster.
    const bool any = std::ranges::any_of(computation->instructions(), [](const auto& i) {
      return i->shape.is_array() && static_cast<double>(safe_logical_bytes(i->shape)) >= kLeastSeedBytes;
    });
    for (int k = 0; any && k < streams.most_clusters; ++k) {
      const ValueGraph graph(*computation, target);
      LT_ASSIGN_OR_RETURN(const auto streamed, streams.stream(*computation, graph, decide_values(graph, {})));
      if (!streamed) break;
      for (Computation* body : streamed->bodies) {
        if (depth < streams.deepest) open.push_back({body, depth + 1});
      }
      hidden += streamed->hidden_bytes;
      ++result.count;
    }
  }
  result.changed = result.count > 0;
  result.note = fmt::format("{} clusters streamed, {:.1f} MiB of intermediates less", result.count, hidden / 1048576);
  return result;
}

}  // namespace lowtide::engine
