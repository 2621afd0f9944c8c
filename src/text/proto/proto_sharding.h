#pragma once
/// Shardings and groups of devices as HLO text, which the text's readers then parse.

#include <string>

#include "text/proto/wire.h"

namespace lowtide::engine {

/// OpSharding: `{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dims={manual}}`.
std::string sharding_text(const WireMessage& proto);

/// IotaReplicaGroupListProto: `[2,4]<=[4,2]T(1,0)`.
std::string iota_groups_text(const WireMessage& proto);
/// MeshAxesReplicaGroupListProto: `mesh['x'=4,'y'=2] {'x':(1)2,'y'}`.
std::string mesh_groups_text(const WireMessage& proto);
/// ReplicaGroup, repeated: `{{0,1},{2,3}}`.
std::string listed_groups_text(const std::vector<WireMessage>& groups);

/// Numbers between braces: `{0,1}`.
std::string braced(const std::vector<int64_t>& numbers);

}  // namespace lowtide::engine
