#include "schedule/check/copied_boxes.h"

#include <algorithm>

#include "ir/element_type.h"

namespace lowtide::engine {

void CopiedBox::simplify() {
  std::erase_if(axes, [](const Axis& axis) { return axis.extent == 1; });
  std::ranges::sort(axes, std::greater());
  std::vector<Axis> joined;
  for (const Axis& axis : axes) {
    if (!joined.empty() && joined.back().stride == axis.stride * axis.extent) {
      joined.back() = {axis.stride, axis.extent * joined.back().extent};
    } else {
      joined.push_back(axis);
    }
  }
  axes = std::move(joined);
}

std::optional<Int128> times_stored(const Touches& touches, const Touch& store) {
  if (store.guard != kNoId) return {};
  Int128 times = 1;
  for (const int32_t id : store.loops) {
    const Loop& loop = touches.nest().loops[id];
    if (loop.kind != LoopKind::kParallel) return {};
    times *= loop.extent;
  }
  return times;
}

std::optional<CopiedBox> copied_box(const PlacedKernel& kernel, const Touch& store) {
  const Nest& nest = kernel.touches.nest();
  const Node& value = nest.nodes[store.value];
  if (value.kind != NodeKind::kLoad || value.buffer >= kernel.inputs) return {};
  const NestBuffer &from = nest.buffers[value.buffer], &to = nest.buffers[store.buffer];
  if (kernel.place(value.buffer) != kernel.place(store.buffer) || stored_bytes(from.type) != stored_bytes(to.type) ||
      value.affine.terms != store.element->terms)
    return {};
  CopiedBox box{store.element->constant, value.affine.constant - store.element->constant, {}};
  size_t counted = 0;
  for (const auto& term : store.element->terms) {
    const Node& atom = nest.nodes[term.atom];
    if (atom.kind != NodeKind::kLoopIndex || term.coefficient <= 0) return {};
    const int64_t extent = nest.loops[atom.loop].extent;
    counted += extent > 1;
    box.axes.push_back({term.coefficient, extent});
  }
  // A loop on which the element doesn't depend would store it again.
  const auto longer = std::ranges::count_if(store.loops, [&](int32_t id) { return nest.loops[id].extent > 1; });
  if (static_cast<size_t>(longer) != counted) return {};
  box.simplify();
  return box;
}

}  // namespace lowtide::engine
