#pragma once
/// Writes a cluster as loops over tiles of slices.

#include <optional>

#include "passes/stream/cluster.h"
#include "passes/stream/stream.h"

namespace lowtide::engine {

/// Marks loops created here: they aren't streamed again along another dimension, but their bodies are.
inline constexpr const char* kTilesAttribute = "{lowtide_tiles=\"true\"}";

/// The options for growing a decision's cluster.
ClusterOptions options_of(const StreamDecision& decision);

/// One loop for each pass; the remainder that doesn't fill a tile is computed after it. Members' readers now read the
/// loops' results; the members themselves stay, without readers. `tile`: slices, less than the extent. Returns the
/// bodies, which may be streamed again; none: values outside need some members and are needed by others, so that no
/// order of the loops satisfies both; the module is then invalid.
std::optional<std::vector<Computation*>> stream_cluster(Computation& computation, const ValueGraph& graph,
                                                        const std::vector<ValueState>& states,
                                                        const StreamCluster& cluster, int64_t tile);

}  // namespace lowtide::engine
