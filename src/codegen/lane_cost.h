#pragma once
/// The cost of a nest's blocks, in modelled cycles, scalar and vectorised.
///
/// The figures are those of a Zen 4 or 5 core, rounded: they decide between a gather and a contiguous load, or between
/// lanes along a row and along a column, which differ by large factors.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "codegen/equal_lanes.h"
#include "nest/nest.h"

namespace lowtide::engine {

inline constexpr double kCyclesPerNanosecond = 3.5;

/// A vectorised loop, and what differs from lane to lane.
struct Spread {
  int32_t loop = kNoId;
  int32_t width = 0;
  const std::vector<bool>* varying = nullptr;
  const std::vector<NodeId>* tiled = nullptr;  ///< loads that go through a tile
  const EqualLanes* equal = nullptr;           ///< values that are computed for fewer lanes
};

class LaneCost {
 public:
  LaneCost(const Nest& nest, bool avx512) : nest_(nest), avx512_(avx512) {}

  /// One pass through the block's own items, without its inner loops.
  double scalar_items(int32_t block) const;
  double scalar_items(std::span<const Item> items, int32_t block) const;  ///< of these items only
  /// One pass for all lanes, with inner loops.
  double lane_block(int32_t block, const Spread& spread) const;
  /// Merging the accumulators of one execution.
  double merge(const Spread& spread) const;
  /// The most registers, of 32 bits per lane, that are live at once in the body of a vectorised loop.
  double live_values(const Spread& spread) const;
  /// Are lanes handled one by one somewhere (narrow gathers, long divisions)? Then few lanes are better.
  bool has_slow_lanes(const Spread& spread) const;
  int64_t trips(const Loop& loop) const;

 private:
  double scalar_node(const Node& node) const;
  double lane_node(NodeId id, const Spread& spread) const;
  static int32_t group(NodeId id, const Spread& spread) {
    return spread.equal && spread.equal->has(id) ? spread.equal->group : 1;
  }
  double lane_access(const Affine& index, ElementType type, bool is_store, int32_t block, const Spread& spread) const;
  double computed_lines(const Affine& index, int bytes) const;
  double near_line(const Affine& index, int bytes) const;
  double lines(const Affine& index, int bytes, int32_t block, const Spread& spread) const;
  double fetched_line(const Affine& index, int bytes, int32_t block, const Spread* spread) const;
  double scalar_lines(const Affine& index, int bytes, int32_t block) const;
  void for_uses(const Item& item, const std::function<void(NodeId)>& use) const;
  double registers(ElementType type, int32_t width) const;
  bool varies(NodeId id, const Spread& spread) const { return (*spread.varying)[id]; }
  bool needs_gather(const Affine& index, const Spread& spread, int64_t* step) const;
  std::vector<NodeId> row_loads(int32_t inner, const Spread& spread) const;
  bool reads_rows(NodeId load, const Spread& spread) const;  ///< one in each lane (rows_in_lanes.h)
  double row_load(const Node& node, const Spread& spread) const;
  size_t stored_together(std::span<const Item> items, const Spread& spread) const;
  bool reads_apart(const Affine& index, const Spread& spread) const;  ///< as whole registers (short_steps.h)
  bool slow_lanes_in(int32_t block, const Spread& spread) const;
  bool chooses_constant(const Node& node) const;
  /// last_use: per node, the item of its block that uses it last, counted from 1; 0: none.
  double live_in(int32_t block, const Spread& spread, double outside, std::vector<size_t>& last_use) const;

  const Nest& nest_;
  const bool avx512_;
};

}  // namespace lowtide::engine
