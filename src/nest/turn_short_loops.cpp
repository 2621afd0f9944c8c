#include "nest/turn_short_loops.h"

#include <algorithm>
#include <cstdlib>

#include "nest/compact.h"

namespace lowtide::engine {
namespace {

/// The most iterations of the loop that moves inside, since it writes to that many places alternately; and the fewest
/// of the other loop.
constexpr int64_t kShort = 8, kLong = 1024;
constexpr int64_t kLine = 64;  ///< bytes

class Turn {
 public:
  explicit Turn(Nest nest) : nest_(std::move(nest)) {}

  Nest run() {
    for (Loop& outer : nest_.loops) {
      if (outer.kind != LoopKind::kParallel || outer.body == kNoId || outer.extent < 2 || outer.extent > kShort)
        continue;
      const std::vector<Item>& items = block(outer.body).items;
      if (items.size() != 1 || items[0].kind != Item::kLoop) continue;
      Loop& inner = nest_.loops[items[0].id];
      if (inner.kind == LoopKind::kParallel && inner.extent >= kLong && shares_lines(inner, outer.index)) {
        exchange(outer, inner);
        turned_ = true;
      }
    }
    return turned_ ? without_dead_parts(std::move(nest_))
                   : std::move(nest_);  // renumbered: equal kernels have equal texts
  }

 private:
  Block& block(int32_t id) { return nest_.blocks[id]; }

  /// Does the loop only move elements, and do adjacent iterations of the loop around it read the same cache lines?
  bool shares_lines(const Loop& loop, NodeId around) {
    bool shares = false;
    for (const Item& item : block(loop.body).items) {
      if (item.kind == Item::kLoop) return false;
      if (item.kind == Item::kStore) continue;
      const Node& node = nest_.nodes[item.id];
      if (node.kind != NodeKind::kLoad) return false;
      shares |= std::llabs(node.affine.coefficient_of(around)) * stored_bytes(node.type) < kLine;
    }
    return shares;
  }

  void exchange(Loop& outer, Loop& inner) {
    Node &far = nest_.nodes[outer.index], &near = nest_.nodes[inner.index];
    std::swap(far.loop, near.loop);
    std::swap(far.block, near.block);
    std::swap(outer.index, inner.index);
    std::swap(outer.extent, inner.extent);
    std::swap(outer.one_by_one, inner.one_by_one);
  }

  Nest nest_;
  bool turned_ = false;
};

}  // namespace

Nest turn_short_loops(Nest nest) { return Turn(std::move(nest)).run(); }

}  // namespace lowtide::engine
