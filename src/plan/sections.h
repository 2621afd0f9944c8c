#pragma once
/// Time reduced to what matters for packing: the moments at which the set of live buffers is maximal.

#include <cstdint>
#include <span>
#include <vector>

#include "plan/problem.h"

namespace lowtide::engine {

/// A section represents all steps whose live buffers are also live in it. Only sections not contained in another are
/// kept: those between a birth and the death that follows it.
struct Sections {
  /// Sections [begin, end) in which a buffer is alive.
  struct Range {
    int32_t begin = 0, end = 0;
  };
  std::vector<std::vector<Range>> ranges;      ///< per buffer, in time order
  std::vector<std::vector<int32_t>> members;   ///< per section: buffers alive there
  std::vector<std::vector<int32_t>> overlaps;  ///< per buffer: others that share a section with it
  int32_t begin_of(int32_t buffer) const { return ranges[buffer].front().begin; }
  int32_t end_of(int32_t buffer) const { return ranges[buffer].back().end; }
};

/// Of the chosen buffers, all of some size and life; numbers in the result are positions in `chosen`.
Sections make_sections(const Problem& problem, std::span<const int32_t> chosen);

}  // namespace lowtide::engine
