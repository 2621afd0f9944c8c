// Emits loops over rows whose results are computed further in lanes (codegen/lanes_after.h).

#include "codegen/lanes_after.h"
#include "codegen/llvm/emitter.h"

namespace lowtide::engine {

void Emitter::emit_rows_then_lanes(int32_t id, V begin, V end) {
  const LanesAfter parts = split_after_reductions(nest_, id);
  const int32_t width = plan_.after[id];
  std::vector<V> kept;  // of each result, one element for each row
  for (const NodeId result : parts.results) {
    llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    kept.push_back(entry.CreateAlloca(type_of(node(result).type, width)));
  }
  const auto row_by_row = [&](V index) {
    count(integer(0), integer(width), 1, {}, [&](V row, std::span<const V>) -> std::vector<V> {
      index_[id] = builder_.CreateAdd(index, row);
      emit_items(parts.rows);
      for (size_t k = 0; k < kept.size(); ++k) {
        V value = scalar(parts.results[k]);
        builder_.CreateStore(value, builder_.CreateGEP(value->getType(), kept[k], row));
      }
      return {};
    });
  };
  const auto finish = [&] {
    for (size_t k = 0; k < kept.size(); ++k) {
      const NodeId result = parts.results[k];
      values_[result] = {builder_.CreateLoad(type_of(node(result).type, width), kept[k]), true};
    }
    emit_items(parts.after);
  };
  V whole = end_of_steps(begin, end, width);
  count(begin, whole, width, {}, [&](V index, std::span<const V>) -> std::vector<V> {
    row_by_row(index);
    in_lanes(id, width, index, finish);
    return {};
  });
  if (is_given(loop_of(id).extent) || loop_of(id).extent % width != 0) emit_serial_loop(id, whole, end);
}

}  // namespace lowtide::engine
