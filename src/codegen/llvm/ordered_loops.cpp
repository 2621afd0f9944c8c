// Emits sequential loops that are split (codegen/ordered.h).

#include "codegen/llvm/emitter.h"
#include "codegen/ordered.h"

namespace lowtide::engine {

void Emitter::emit_ordered_loop(int32_t id, V begin, V end) {
  const OrderedLoop parts = take_apart(nest_, id);
  const int32_t width = plan_.lanes[static_cast<size_t>(id)];
  const auto in_lanes = [&](V index) {
    lane_loop_ = id;
    varying_ = varying_nodes(nest_, id);
    width_ = width;
    first_index_ = index;
    emit_items(parts.ahead);
    lane_loop_ = kNoId;
    width_ = 0;
    first_index_ = nullptr;
  };
  const auto one_by_one = [&](V index) {
    std::vector<Emitted> all;
    for (const NodeId kept : parts.kept) all.push_back(values_[static_cast<size_t>(kept)]);
    for (int32_t lane = 0; lane < width; ++lane) {
      for (size_t k = 0; k < all.size(); ++k) {
        if (!all[k].lanes) continue;
        V value = builder_.CreateExtractElement(all[k].value, static_cast<uint64_t>(lane));
        llvm::Type* own = type_of(node(parts.kept[k]).type, 0);
        if (value->getType() != own) value = builder_.CreateSExt(value, own);
        values_[static_cast<size_t>(parts.kept[k])] = {value, false};
      }
      index_[static_cast<size_t>(id)] = builder_.CreateAdd(index, integer(lane));
      emit_items(parts.behind);
    }
  };
  V whole = builder_.CreateAdd(begin, builder_.CreateAnd(builder_.CreateSub(end, begin), integer(-width)));
  count(begin, whole, width, {}, [&](V index, std::span<const V>) -> std::vector<V> {
    in_lanes(index);
    one_by_one(index);
    return {};
  });
  if (loop_of(id).extent % width != 0) emit_serial_loop(id, whole, end);
}

}  // namespace lowtide::engine
