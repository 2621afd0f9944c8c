// Emits serial loops along rows that are in lanes (codegen/rows_in_lanes.h).

#include <llvm/IR/Constants.h>

#include "codegen/llvm/emitter.h"
#include "codegen/rows_in_lanes.h"

namespace lowtide::engine {

// Rows may only be read for lanes that run: which ones do in a loop inside is known only there.
std::vector<NodeId> Emitter::row_loads(int32_t id) const {
  if (width_ == 0 || active_) return {};
  return loads_in_rows(nest_, id, lane_loop_, varying_, avx512_);
}

// The index that lane 0 reads.
Emitter::V Emitter::first_lane_address(const Node& load) {
  const int32_t width = std::exchange(width_, 0);
  index_[lane_loop_] = first_index_;
  V first = address(load.affine).scalar;
  width_ = width;
  return first;
}

// Where a lane reads, if lane 0 reads at `first`. Lanes that don't run read what the last one does that runs.
Emitter::V Emitter::lane_address(const Node& load, V first, int32_t lane) {
  V number = integer(lane);
  if (remaining_) {
    V last = builder_.CreateSub(remaining_, integer(1));
    number = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, number, last);
  }
  const int64_t step = load.affine.coefficient_of(loop_of(lane_loop_).index);
  return pointer(load.buffer, builder_.CreateAdd(first, builder_.CreateMul(number, integer(step))));
}

// `count` elements of each row from `first` on, for as many lanes as a block has rows. By element: a vector over these
// lanes. Row `lane` is part lane / width of register lane % width: there, transposing its part of all registers leaves
// it in its lane.
std::vector<Emitter::V> Emitter::load_row_block(const Node& load, V first, int32_t first_lane, int64_t count) {
  const int32_t side = row_block_side(avx512_), width = row_block_width(count, side);
  auto* type = llvm::FixedVectorType::get(stored_type(load.type), static_cast<unsigned>(width));
  std::vector<llvm::Constant*> is_read;
  for (int64_t k = 0; k < width; ++k) is_read.push_back(builder_.getInt1(k < count));
  V running = count < width ? llvm::ConstantVector::get(is_read) : nullptr;
  std::vector<std::vector<V>> parts(static_cast<size_t>(width));
  for (int32_t lane = 0; lane < side; ++lane) {
    V from = lane_address(load, first, first_lane + lane);
    parts[lane % width].push_back(load_vector(type, from, running));
  }
  std::vector<V> rows;
  for (const std::vector<V>& part : parts) rows.push_back(joined(part));
  transpose(rows);
  rows.resize(static_cast<size_t>(count));
  return rows;
}

Emitter::RowElements Emitter::load_rows(int32_t id, std::span<const NodeId> loads, V first, int64_t count) {
  RowElements all;
  for (const NodeId load : loads) {
    const Node& n = node(load);
    index_[id] = first;
    V begin = first_lane_address(n);
    std::vector<std::vector<V>> parts(static_cast<size_t>(count));
    for (int32_t lane = 0; lane < width_; lane += row_block_side(avx512_)) {
      const std::vector<V> block = load_row_block(n, begin, lane, count);
      for (size_t k = 0; k < block.size(); ++k) parts[k].push_back(block[k]);
    }
    for (const std::vector<V>& part : parts) all[load].push_back(from_stored(n.type, joined(part)));
  }
  return all;
}

void Emitter::emit_row_loop(int32_t id, std::span<const NodeId> loads) {
  const Loop& loop = loop_of(id);
  std::vector<V> carried;
  for (size_t slot = 0; slot < loop.carried.size(); ++slot) {
    carried.push_back(as(loop.carried[slot].initial, is_varying_carried(id, slot)));
  }
  const auto run = [&](V first, int64_t terms, std::vector<V> values) {
    const RowElements rows = load_rows(id, loads, first, terms);
    for (int64_t k = 0; k < terms; ++k) {
      index_[id] = builder_.CreateAdd(first, integer(k));
      for (const auto& [load, elements] : rows) row_terms_[load] = elements[k];
      set_carried(id, values, false);
      emit_block(loop.body);
      for (size_t slot = 0; slot < values.size(); ++slot) {
        values[slot] = as(loop.carried[slot].next, is_varying_carried(id, slot));
      }
    }
    row_terms_.clear();
    return values;
  };
  const int64_t side = row_block_side(avx512_), whole = loop.extent / side * side;
  if (whole > 0) {
    carried = count(integer(0), integer(whole), side, carried, [&](V first, std::span<const V> values) {
      return run(first, side, {values.begin(), values.end()});
    });
  }
  if (whole < loop.extent) carried = run(integer(whole), loop.extent - whole, std::move(carried));
  set_carried(id, carried, true);
}

}  // namespace lowtide::engine
