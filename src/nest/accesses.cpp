#include "nest/accesses.h"

#include <algorithm>
#include <map>

#include "base/int128.h"
#include "nest/blocks.h"
#include "nest/reach.h"

namespace lowtide::engine {
namespace {

/// For each node of block 0 the loop of block 0 that needs it, if there is only one.
class Needs {
 public:
  explicit Needs(const Nest& nest) : loops_(nest.nodes.size(), kNoId) {
    for (size_t b = 0; b < nest.blocks.size(); ++b) {
      const std::vector<int32_t> around = loops_around(nest, static_cast<int32_t>(b));
      outermost_.push_back(around.empty() ? kSeveral : around.back());
    }
    for (const Store& store : nest.stores) add({store.value, store.guard}, store.index, outermost(store.block));
    for (const Loop& loop : nest.loops) {
      const int32_t around = loop.body == kNoId ? kSeveral : outermost(loop.body);
      for (const Carried& carried : loop.carried) add({carried.initial, carried.next}, {}, around);
      add({loop.condition}, {}, around);
    }
    for (size_t n = nest.nodes.size(); n-- > 0;) {  // users have higher numbers
      const Node& node = nest.nodes[n];
      add(node.operands, node.affine, node.block == 0 ? loops_[n] : outermost(node.block));
    }
  }

  /// kNoId if there is none, or several.
  int32_t of(NodeId node) const { return std::max(loops_[node], kNoId); }

 private:
  static constexpr int32_t kSeveral = -2;

  int32_t outermost(int32_t block) const { return outermost_[block]; }

  void add(const std::vector<NodeId>& nodes, const Affine& affine, int32_t loop) {
    const auto note = [&](NodeId node) {
      if (node == kNoId || loop == kNoId) return;  // nothing needs the user
      int32_t& known = loops_[node];
      known = known == kNoId || known == loop ? loop : kSeveral;
    };
    std::ranges::for_each(nodes, note);
    for (const Affine::Term& term : affine.terms) note(term.atom);
  }

  std::vector<int32_t> outermost_;  ///< by block: the loop of block 0 around it; block 0 is a part of every piece
  std::vector<int32_t> loops_;      ///< by node
};

class Walk {
 public:
  explicit Walk(const Nest& nest) : nest_(nest), needs_(nest) {}

  std::vector<Access> run() {
    block(0, kNoId, kNoId);
    return std::move(found_);
  }

 private:
  void add(int32_t buffer, NodeId stored, int32_t piece, int32_t outermost, const Affine& element, int32_t block) {
    const Reach all = reach_of(nest_, element, kNoId);
    const int64_t last = nest_.buffers[buffer].elements - 1;
    found_.push_back({buffer, stored != kNoId, piece, outermost, element, std::max<int64_t>(saturated(all.least), 0),
                      std::min(saturated(all.greatest), last), static_cast<int32_t>(found_.size()), stored, block});
  }

  void block(int32_t id, int32_t piece, int32_t outermost) {
    for (const Item& item : nest_.blocks[id].items) {
      if (item.kind == Item::kNode) {
        const Node& node = nest_.nodes[item.id];
        if (node.kind != NodeKind::kLoad) continue;
        const int32_t only = id == 0 ? piece_of_one(needs_.of(item.id)) : kNoId;
        if (only != kNoId) {
          of_piece_[only].push_back(item.id);
        } else {
          add(node.buffer, kNoId, piece, outermost, node.affine, id);
        }
      } else if (item.kind == Item::kStore) {
        const Store& store = nest_.stores[item.id];
        add(store.buffer, store.value, piece, outermost, store.index, id);
      } else {
        const Loop& loop = nest_.loops[item.id];
        const bool is_piece = piece == kNoId && loop.kind == LoopKind::kParallel;
        const int32_t inside = is_piece ? item.id : piece, around = outermost == kNoId ? item.id : outermost;
        for (const NodeId load : of_piece_[item.id]) {
          const Node& node = nest_.nodes[load];
          add(node.buffer, kNoId, item.id, item.id, node.affine, id);
        }
        if (loop.head != kNoId) block(loop.head, inside, around);
        block(loop.body, inside, around);
      }
    }
  }

  /// The loop, if it is a piece of one iteration: no other thread runs a part of it.
  int32_t piece_of_one(int32_t loop) const {
    if (loop == kNoId) return kNoId;
    const Loop& needing = nest_.loops[loop];
    return needing.kind == LoopKind::kParallel && needing.extent == 1 ? loop : kNoId;
  }

  const Nest& nest_;
  const Needs needs_;
  std::map<int32_t, std::vector<NodeId>> of_piece_;  ///< by piece: loads in block 0 that only it needs
  std::vector<Access> found_;
};

/// Elements constant + sum of stride * [0, extent), strides positive and descending.
struct Grid {
  struct Axis {
    int64_t stride = 0, extent = 0;
  };
  int64_t constant = 0;
  std::vector<Axis> axes;
};

std::optional<Grid> grid_of(const Nest& nest, const Affine& element) {
  Grid grid;
  Int128 constant = element.constant;
  for (const auto& term : element.terms) {
    const Node& atom = nest.nodes[term.atom];
    const Int128 extent = Int128{atom.greatest} - atom.least + 1;
    if (extent > INT64_MAX / 2) return {};
    constant += Int128{term.coefficient} * (term.coefficient > 0 ? atom.least : atom.greatest);
    grid.axes.push_back({std::abs(term.coefficient), static_cast<int64_t>(extent)});
  }
  if (constant < 0 || constant > INT64_MAX / 2) return {};
  grid.constant = static_cast<int64_t>(constant);
  std::sort(grid.axes.begin(), grid.axes.end(), [](const auto& a, const auto& b) { return a.stride > b.stride; });
  return grid;
}

struct Range {
  int64_t least = 0, greatest = 0;
};

/// The grid's coordinates along these strides (descending), each a multiple of the next; none if one could overflow
/// into the one before it, `overflow` is then the number of the first.
std::optional<std::vector<Range>> coordinates(const Grid& grid, const std::vector<int64_t>& strides, size_t& overflow) {
  std::vector<Range> ranges;
  int64_t rest = grid.constant;
  size_t axis = 0;
  Int128 room = INT64_MAX;
  for (const int64_t stride : strides) {
    Range range{rest / stride, rest / stride};
    rest %= stride;
    for (; axis < grid.axes.size() && grid.axes[axis].stride >= stride; ++axis) {
      if (grid.axes[axis].stride % stride != 0) return {};
      const Int128 steps = Int128{grid.axes[axis].extent - 1} * (grid.axes[axis].stride / stride);
      range.greatest = saturated(Int128{range.greatest} + steps);
    }
    if (Int128{range.greatest} * stride >= room) {
      overflow = ranges.size();
      return {};
    }
    ranges.push_back(range);
    room = stride;
  }
  return ranges;
}

/// Are the accessed elements disjoint? False: not known.
bool are_disjoint(const Nest& nest, const Access& a, const Access& b) {
  if (a.least > b.greatest || b.least > a.greatest) return true;
  const auto first = grid_of(nest, a.element), second = grid_of(nest, b.element);
  if (!first || !second) return false;
  std::vector<int64_t> strides{1};
  for (const Grid* grid : {&*first, &*second}) {
    for (const auto& axis : grid->axes) strides.push_back(axis.stride);
  }
  std::sort(strides.begin(), strides.end(), std::greater<>());
  strides.erase(std::unique(strides.begin(), strides.end()), strides.end());
  // If one access runs through elements that the other one skips with a stride (whole rows, and parts of rows), compare
  // both without the longer stride.
  while (true) {
    size_t overflow = 0;
    const auto here = coordinates(*first, strides, overflow);
    const auto there = here ? coordinates(*second, strides, overflow) : std::nullopt;
    if (here && there) {
      for (size_t k = 0; k < strides.size(); ++k) {
        if ((*here)[k].least > (*there)[k].greatest || (*there)[k].least > (*here)[k].greatest) return true;
      }
      return false;
    }
    if (overflow == 0) return false;
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(overflow) - 1);
  }
}

/// Does each iteration of the loops around both access its own element? Then an element is read only by the iteration
/// that writes it. False if indices come from data, which may repeat them.
bool has_own_element(const Nest& nest, const Access& a, const Access& b) {
  std::vector<Grid::Axis> axes;
  const std::vector<int32_t> other = loops_around(nest, b.block);
  for (const int32_t id : loops_around(nest, a.block)) {
    const Loop& loop = nest.loops[id];
    if (std::ranges::find(other, id) == other.end() || (loop.kind != LoopKind::kWhile && loop.extent <= 1)) continue;
    const auto term = std::ranges::find(a.element.terms, loop.index, &Affine::Term::atom);
    if (loop.kind == LoopKind::kWhile || term == a.element.terms.end()) return false;
    axes.push_back({std::abs(term->coefficient), loop.extent});
  }
  // Other terms shift all elements equally if they are known before the loops begin.
  Int128 span = 0;
  for (const auto& term : a.element.terms) {
    const Node& atom = nest.nodes[term.atom];
    if (atom.kind == NodeKind::kLoopIndex) {
      const auto& around = nest.loops[atom.loop];
      if (std::ranges::find(other, atom.loop) == other.end() && around.extent > 1) return false;
    } else if (atom.block != 0) {
      return false;
    }
  }
  std::ranges::sort(axes, {}, &Grid::Axis::stride);
  for (const Grid::Axis& axis : axes) {
    if (axis.stride <= span) return false;
    span += Int128{axis.stride} * (axis.extent - 1);
  }
  return true;
}

}  // namespace

std::vector<Access> accesses(const Nest& nest) { return Walk(nest).run(); }

/// Would the store, if its buffer aliased `from`, write the value that is already there?
static bool changes_nothing(const Nest& nest, const Access& store, int32_t from) {
  const Node& value = nest.nodes[store.value];
  return value.kind == NodeKind::kLoad && value.buffer == from && value.affine == store.element;
}

bool may_lie_over(const Nest& nest, int32_t to, int32_t from) {
  const std::vector<Access> all = accesses(nest);
  for (const Access& load : all) {
    if (load.is_store || load.buffer != from) continue;
    for (const Access& store : all) {
      if (!store.is_store || store.buffer != to || changes_nothing(nest, store, from)) continue;
      const bool earlier_piece = load.piece != kNoId && load.piece != store.piece && load.order < store.order;
      const bool same_iteration = load.outermost == store.outermost && load.element == store.element &&
                                  load.order < store.order && has_own_element(nest, load, store);
      if (!earlier_piece && !same_iteration && !are_disjoint(nest, load, store)) return false;
    }
  }
  return true;
}

std::vector<int32_t> idle_pieces(const Nest& nest, int32_t to, int32_t from) {
  std::vector<int32_t> pieces;  // storing loops of block 0
  std::vector<bool> idle;
  for (const Access& access : accesses(nest)) {
    if (!access.is_store) continue;
    if (access.piece == kNoId) return {};  // block 0 is one piece
    if (pieces.empty() || pieces.back() != access.piece) {
      pieces.push_back(access.piece);
      idle.push_back(true);
    }
    if (access.buffer != to || !changes_nothing(nest, access, from)) idle.back() = false;
  }
  std::vector<int32_t> found;
  for (size_t p = 0; p < pieces.size(); ++p) {
    if (idle[p]) found.push_back(static_cast<int32_t>(p));
  }
  return found;
}

}  // namespace lowtide::engine
