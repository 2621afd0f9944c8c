// Emits sequential loops that are split (codegen/ordered.h).

#include "codegen/llvm/emitter.h"
#include "codegen/ordered.h"

namespace lowtide::engine {

void Emitter::in_lanes(int32_t loop, int32_t width, V first, const std::function<void()>& emit) {
  lane_loop_ = loop;
  varying_ = varying_nodes(nest_, loop);
  width_ = width;
  first_index_ = first;
  emit();
  lane_loop_ = kNoId;
  width_ = 0;
  first_index_ = nullptr;
}

Emitter::V Emitter::end_of_steps(V begin, V end, int32_t width) {
  return builder_.CreateAdd(begin, builder_.CreateAnd(builder_.CreateSub(end, begin), integer(-width)));
}

void Emitter::emit_ordered_loop(int32_t id, V begin, V end) {
  const OrderedLoop parts = take_apart(nest_, id);
  const int32_t width = plan_.lanes[id];
  const auto one_by_one = [&](V index) {
    std::vector<Emitted> all;
    for (const NodeId kept : parts.kept) all.push_back(values_[kept]);
    for (int32_t lane = 0; lane < width; ++lane) {
      for (size_t k = 0; k < all.size(); ++k) {
        if (!all[k].lanes) continue;
        V value = builder_.CreateExtractElement(all[k].value, static_cast<uint64_t>(lane));
        llvm::Type* own = type_of(node(parts.kept[k]).type, 0);
        if (value->getType() != own) value = builder_.CreateSExt(value, own);
        values_[parts.kept[k]] = {value, false};
      }
      index_[id] = builder_.CreateAdd(index, integer(lane));
      emit_items(parts.behind);
    }
  };
  V whole = end_of_steps(begin, end, width);
  count(begin, whole, width, {}, [&](V index, std::span<const V>) -> std::vector<V> {
    in_lanes(id, width, index, [&] { emit_items(parts.ahead); });
    one_by_one(index);
    return {};
  });
  if (loop_of(id).extent % width != 0) emit_serial_loop(id, whole, end);
}

}  // namespace lowtide::engine
