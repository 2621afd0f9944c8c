#pragma once
/// Placements that were searched for once, by problem: a plan that is replayed doesn't search again.

#include <cstdint>
#include <span>
#include <unordered_map>

#include "plan/pack.h"

namespace lowtide::engine {

struct KnownPlacement {
  uint64_t problem = 0;  ///< its hash
  Placement placement;
  bool operator==(const KnownPlacement&) const = default;
};

/// Of the buffers, their lifetimes and alignments, and of what bounds the search.
uint64_t hash_of(const Problem& problem, const PackOptions& options);

class Packings {
 public:
  Packings() = default;
  /// What is known is checked before it is taken; the first of several placements of a problem counts.
  explicit Packings(std::span<const KnownPlacement> known);
  /// As lowtide::engine::pack; what is taken of what is known counts as searched.
  KnownPlacement pack(const Problem& problem, const PackOptions& options) const;

 private:
  std::unordered_map<uint64_t, const Placement*> known_;
};

}  // namespace lowtide::engine
