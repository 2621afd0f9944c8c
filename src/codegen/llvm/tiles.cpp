// Emits loops that transpose through tiles (codegen/tiling.h).

#include <llvm/IR/Constants.h>

#include <algorithm>

#include "codegen/llvm/emitter.h"

namespace lowtide::engine {

// Swaps the off-diagonal quarters of the whole, then of each quarter, down to 2 rows and columns.
void Emitter::transpose(std::vector<V>& rows) {
  const auto side = static_cast<int32_t>(llvm::cast<llvm::FixedVectorType>(rows[0]->getType())->getNumElements());
  for (int32_t half = static_cast<int32_t>(rows.size()) / 2; half > 0; half /= 2) {
    std::vector<int> upper, lower;
    for (int32_t k = 0; k < side; ++k) {
      upper.push_back((k & half) == 0 ? k : side + k - half);
      lower.push_back((k & half) == 0 ? k + half : side + k);
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if ((i & static_cast<size_t>(half)) != 0) continue;
      V &a = rows[i], &b = rows[i + static_cast<size_t>(half)];
      V first = builder_.CreateShuffleVector(a, b, upper);
      b = builder_.CreateShuffleVector(a, b, lower);
      a = first;
    }
  }
}

// Reads `row_count` contiguous elements for each of the lanes.
void Emitter::fill_tile(NodeId load, int32_t side, V tile, V row_count) {
  const Node& n = node(load);
  llvm::Type* element = stored_type(n.type);
  auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(side));
  width_ = side;
  V first = first_lane_address(n);
  V running = nullptr;
  if (row_count) {
    llvm::Type* i32 = builder_.getInt32Ty();
    running = builder_.CreateICmpULT(lane_numbers(i32), splat(builder_.CreateTrunc(row_count, i32)));
  }
  std::vector<V> rows;
  for (int32_t lane = 0; lane < side; ++lane) rows.push_back(load_vector(type, lane_address(n, first, lane), running));
  transpose(rows);
  for (int32_t i = 0; i < side; ++i) {
    V to = builder_.CreateConstGEP1_64(element, tile, static_cast<uint64_t>(i * side));
    builder_.CreateAlignedStore(rows[i], to, llvm::Align(16));
  }
}

void Emitter::emit_tiled(const Tiling& tiling, V begin, V end) {
  const int32_t outer = tiling.chain.front(), side = tiling.side;
  lane_loop_ = tiling.chain.back();
  varying_ = varying_nodes(nest_, lane_loop_);
  std::map<NodeId, V> tiles;
  for (const NodeId load : tiling.loads) {
    llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    auto* tile =
        entry.CreateAlloca(llvm::ArrayType::get(stored_type(node(load).type), static_cast<uint64_t>(side * side)));
    tile->setAlignment(llvm::Align(64));
    tiles[load] = tile;
  }
  const auto run_rows = [&](V first_row, V row_count) {
    count(integer(0), row_count, 1, {}, [&](V row, std::span<const V>) {
      width_ = side;
      index_[outer] = builder_.CreateAdd(first_row, row);
      for (const auto& [load, tile] : tiles) {
        llvm::Type* element = stored_type(node(load).type);
        tile_rows_[load] = builder_.CreateGEP(element, tile, builder_.CreateMul(row, integer(side)));
      }
      for (const int32_t id : tiling.chain) {
        for (const Item& item : nest_.blocks[loop_of(id).body].items) {
          if (item.kind != Item::kLoop) emit_items({&item, 1});
        }
      }
      tile_rows_.clear();
      width_ = 0;
      return std::vector<V>();
    });
  };
  const int64_t extent = loop_of(lane_loop_).extent;
  const bool whole_rows = loop_of(outer).extent % side == 0;
  // Several adjacent tiles are processed together, so that a page, and lines that are prefetched with a line, are read
  // while they are cached.
  constexpr int32_t kTilesTogether = 4;
  const auto run_tiles = [&](V index, V first_row, V end_row) {
    count(first_row, end_row, side, {}, [&](V row, std::span<const V>) {
      V row_count = integer(side);
      if (!whole_rows) {
        row_count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, row_count, builder_.CreateSub(end, row));
      }
      first_index_ = index;
      index_[outer] = row;
      if (extent % side != 0) remaining_ = builder_.CreateSub(integer(extent), index);
      for (const auto& [load, tile] : tiles) fill_tile(load, side, tile, whole_rows ? nullptr : row_count);
      width_ = 0;
      run_rows(row, row_count);
      first_index_ = remaining_ = nullptr;
      return std::vector<V>();
    });
  };
  std::function<void(size_t, V, V)> descend = [&](size_t depth, V first_row, V end_row) {
    const int32_t id = tiling.chain[depth];
    const bool is_last = depth + 1 == tiling.chain.size();
    count(integer(0), integer(loop_of(id).extent), is_last ? side : 1, {}, [&](V index, std::span<const V>) {
      if (is_last) {
        run_tiles(index, first_row, end_row);
      } else {
        index_[id] = index;
        descend(depth + 1, first_row, end_row);
      }
      return std::vector<V>();
    });
  };
  count(begin, end, side * kTilesTogether, {}, [&](V first_row, std::span<const V>) {
    V after = builder_.CreateAdd(first_row, integer(side * kTilesTogether));
    descend(1, first_row, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, after, end));
    return std::vector<V>();
  });
  lane_loop_ = kNoId;
}

}  // namespace lowtide::engine
