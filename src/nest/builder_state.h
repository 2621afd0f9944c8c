#pragma once
/// A NestBuilder's state in addition to the nest.

#include <set>
#include <unordered_map>
#include <vector>

#include "nest/builder.h"

namespace lowtide::engine {

using NodeKey = std::vector<uint64_t>;  // everything that distinguishes pure nodes

struct HashNodeKey {
  size_t operator()(const NodeKey& key) const {
    uint64_t hash = 0xcbf29ce484222325;
    for (const uint64_t word : key) {
      hash = (hash ^ word) * 0x100000001b3;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

struct OpenLoop {
  int32_t outer = 0;     // the block it was begun in
  bool inlined = false;  // one iteration: its body is that block
  std::vector<NodeId> carried;
};

struct NestBuilder::Shared {
  std::unordered_map<NodeKey, NodeId, HashNodeKey> made;
  std::vector<OpenLoop> loops;  // as Nest::loops
  std::set<Cut> cuts;
  bool has_mixed_cuts = false;
  FoldOperation fold = nullptr;
};

}  // namespace lowtide::engine
