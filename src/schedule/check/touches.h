#pragma once
/// What a kernel touches, and in which order: its nest's loads and stores, found by the checker's own code. A kernel's
/// pieces run one after another; iterations of a parallel piece run in any order, by several threads; items of block 0
/// run again for each call of each piece that needs them.

#include <unordered_map>
#include <vector>

#include "base/int128.h"
#include "nest/nest.h"

namespace lowtide::engine {

struct Touch {
  int32_t buffer = kNoId;
  bool stores = false;
  const Affine* element = nullptr;
  NodeId value = kNoId, guard = kNoId;  ///< of a store
  std::vector<int32_t> loops;           ///< around it, the outermost first
  int32_t order = 0;                    ///< within one iteration of the loops that two have in common
  /// The first and the last of the pieces that run it; for a store they are the same.
  int32_t first_piece = 0, last_piece = 0;
  bool ahead = false;  ///< executed at each call of a piece, before its loop begins
};

/// Bounds of an integer, both inclusive.
struct Extremes {
  Int128 least = 0, greatest = 0;
};

class Touches {
 public:
  /// `nest` must outlive it.
  explicit Touches(const Nest& nest);

  const Nest& nest() const { return nest_; }
  const std::vector<Touch>& all() const { return all_; }
  /// The loops of block 0 that are pieces, in order; empty: all of the kernel is one piece that runs in one call.
  const std::vector<int32_t>& pieces() const { return pieces_; }
  int32_t piece_count() const { return pieces_.empty() ? 1 : static_cast<int32_t>(pieces_.size()); }
  /// Does one call, by one thread, run the whole piece?
  bool runs_at_once(int32_t piece) const;

  /// Bounds of an atom of an element.
  Extremes bounds(NodeId atom) const;
  /// Bounds of an element, in iterations [from, to) of `loop`; kNoId: of any loop.
  Extremes bounds(const Affine& element, int32_t loop, int64_t from, int64_t to) const;
  /// Is the atom's value determined by the indices of these loops?
  bool is_fixed_by(NodeId atom, const std::vector<int32_t>& loops, size_t count) const;

 private:
  struct Range {
    int32_t loop = kNoId;
    int64_t from = 0, to = 0;
  };
  const Node& node(NodeId id) const { return nest_.nodes[id]; }
  const Loop& loop(int32_t id) const { return nest_.loops[id]; }
  const Block& block(int32_t id) const { return nest_.blocks[id]; }
  bool stores_within(int32_t block) const;
  bool is_one_piece() const;
  /// By node and by loop: the number of a piece that needs it.
  struct Needed {
    std::unordered_map<int32_t, int32_t> nodes, loops;
  };
  void find_needs();
  void need(Needed& needed, NodeId id, int32_t piece);
  void need_loop(Needed& needed, int32_t id, int32_t piece);
  void need_block(Needed& needed, int32_t id, int32_t piece);
  void number(const Item& item, Touch& touch) const;
  void walk(int32_t block, std::vector<int32_t>& loops, const Touch& within);
  Extremes bounds(NodeId atom, const Range& range, int depth) const;
  Extremes sum(const Affine& element, const Range& range, int depth) const;

  const Nest& nest_;
  std::vector<int32_t> pieces_;
  Needed first_, last_;  ///< the first piece, the last one
  std::vector<Touch> all_;
};

}  // namespace lowtide::engine
