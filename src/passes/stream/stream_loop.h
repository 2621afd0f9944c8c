#pragma once
/// Writes a cluster as loops over tiles of slices.

#include <optional>

#include "passes/stream/cluster.h"
#include "passes/stream/stream.h"

namespace lowtide::engine {

/// On loops made here: they are not streamed once more along another dimension, their bodies are.
inline constexpr const char* kTilesAttribute = "{lowtide_tiles=\"true\"}";

/// How the cluster of a decision grows.
ClusterOptions options_of(const StreamDecision& decision);

/// One loop for each pass; the remainder that doesn't fill a tile is computed after it. Members' readers now read the
/// loops' results; the members themselves stay, without readers. `tile`: slices, less than the extent. Returns the
/// bodies, which may be streamed again; nothing: values outside need some members and are needed by others, so that no
/// order of the loops serves both. The module is of no use then.
std::optional<std::vector<Computation*>> stream_cluster(Computation& computation, const ValueGraph& graph,
                                                        const std::vector<ValueState>& states,
                                                        const StreamCluster& cluster, int64_t tile);

/// Operands before users again, otherwise in the order in which they are. False: some need what needs them.
bool put_operands_first(Computation& computation);

}  // namespace lowtide::engine
