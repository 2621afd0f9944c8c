#pragma once
/// Cached placements, by problem: replaying a plan needs no search.

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

/// The hash of the buffers, their lifetimes and alignments, and the limits of the search.
uint64_t hash_of(const Problem& problem, const PackOptions& options);

class Packings {
 public:
  Packings() = default;
  /// Known placements are checked before they are used; of several for a problem, the first is used.
  explicit Packings(std::span<const KnownPlacement> known);
  /// Like lowtide::engine::pack; a known placement counts as searched.
  KnownPlacement pack(const Problem& problem, const PackOptions& options) const;

 private:
  std::unordered_map<uint64_t, const Placement*> known_;
};

}  // namespace lowtide::engine
