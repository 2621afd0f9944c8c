#include "schedule/rearrange.h"

#include <algorithm>
#include <numeric>

#include "ir/element_type.h"
#include "nest/blocks.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kLeastBytes = int64_t{64} << 10;  ///< smaller ones aren't worth it
constexpr int64_t kShare = 4;                       ///< scratch takes at most one part in so many

/// A loop of the copy, with its strides in both arrays, in elements.
struct Axis {
  int64_t extent = 0, to = 0, from = 0;
  bool reversed = false;
};

class FindAxes {
 public:
  FindAxes(const Nest& nest, int32_t to, int32_t from) : nest_(nest), to_(to), from_(from) {}

  std::optional<std::vector<Axis>> run() {
    if (nest_.stores.size() != 1) return {};
    const Store& store = nest_.stores[0];
    const Node& value = nest_.nodes[store.value];
    const bool copies = store.buffer == to_ && store.guard == kNoId && value.kind == NodeKind::kLoad &&
                        value.buffer == from_ && value.type == buffer(to_).type &&
                        buffer(to_).type == buffer(from_).type;
    if (!copies || type_bits(value.type) % 8 != 0 || !add_loops(store.block)) return {};
    if (!add_strides(store.index, &Axis::to) || !add_strides(value.affine, &Axis::from)) return {};
    int64_t first = 0;
    for (Axis& axis : axes_) {
      if (axis.from < 0) axis.reversed = true, axis.from = -axis.from, first += axis.from * (axis.extent - 1);
    }
    const bool whole = store.index.constant == 0 && value.affine.constant == first && is_whole(&Axis::to, to_) &&
                       is_whole(&Axis::from, from_);  // leaves the axes in the operand's order
    if (!whole) return {};
    return std::move(axes_);
  }

 private:
  const NestBuffer& buffer(int32_t b) const { return nest_.buffers[b]; }

  bool add_loops(int32_t block) {
    for (const int32_t id : loops_around(nest_, block)) {
      const Loop& loop = nest_.loops[id];
      if (loop.kind != LoopKind::kParallel) return false;
      if (loop.extent == 1) continue;
      axes_.push_back({loop.extent});
      indices_.push_back(loop.index);
    }
    return true;
  }

  bool add_strides(const Affine& element, int64_t Axis::* stride) {
    for (const auto& term : element.terms) {
      const auto axis = std::find(indices_.begin(), indices_.end(), term.atom) - indices_.begin();
      if (axis == static_cast<std::ptrdiff_t>(indices_.size())) return false;
      axes_[axis].*stride = term.coefficient;
    }
    return true;
  }

  /// Do the axes, sorted by decreasing stride, cover all elements of the buffer once?
  bool is_whole(int64_t Axis::* stride, int32_t b) {
    std::sort(axes_.begin(), axes_.end(), [&](const Axis& x, const Axis& y) { return x.*stride > y.*stride; });
    int64_t elements = 1;
    for (size_t k = axes_.size(); k-- > 0;) {
      if (axes_[k].*stride != elements) return false;
      elements *= axes_[k].extent;
    }
    return elements == buffer(b).elements;
  }

  const Nest& nest_;
  const int32_t to_, from_;
  std::vector<Axis> axes_;
  std::vector<NodeId> indices_;  ///< by axis, in the order found
};

}  // namespace

double Rearrangement::sweeps() const {
  double all = 0;
  for (const ArrayMove& move : moves) all += sweeps_of(move);
  return all;
}

std::optional<Rearrangement> plan_rearrangement(const Nest& nest, int32_t to, int32_t from) {
  const auto axes = FindAxes(nest, to, from).run();
  if (!axes) return {};
  std::vector<int64_t> extents;
  std::vector<bool> reversed;
  std::vector<size_t> order(axes->size());
  for (const Axis& axis : *axes) {
    extents.push_back(axis.extent);
    reversed.push_back(axis.reversed);
  }
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return (*axes)[x].to > (*axes)[y].to; });
  const NestBuffer& buffer = nest.buffers[to];
  const int64_t width = stored_bytes(buffer.type), bytes = buffer.elements * width;
  Rearrangement out;
  out.moves = moves_of(extents, order, reversed, width);
  for (const ArrayMove& move : out.moves) out.scratch_bytes = std::max(out.scratch_bytes, scratch_of(move));
  out.scratch_bytes = (out.scratch_bytes + 63) / 64 * 64;
  if (out.moves.empty() || bytes < kLeastBytes || out.scratch_bytes * kShare > bytes) return {};
  return out;
}

}  // namespace lowtide::engine
