#pragma once
/// One tile of a product: panels packed by the caller, depth by depth, sums in `room`.

#include <algorithm>
#include <cstring>

#include "library/lanes.h"
#include "library/panel_kernel.h"

namespace lowtide::engine {

struct PanelTiles {
  static constexpr int64_t kRows = 96;  ///< a multiple of kPanelRows
  static constexpr int64_t kDepth = 512;
  static constexpr int64_t kColumnBytes = 1024;  ///< of sums; a multiple of kPanelBytes

  int64_t m = 0, n = 0, k = 0;               ///< of one product
  int64_t rows = 0, columns = 0, depth = 0;  ///< of one tile
  int64_t down = 0, across = 0;              ///< tiles

  template <class S>
  static PanelTiles of(int64_t m, int64_t n, int64_t k) {
    const auto round_up = [](int64_t x, int64_t to) { return (std::max<int64_t>(x, 1) + to - 1) / to * to; };
    PanelTiles tiles{m, n, k};
    tiles.rows = std::min(kRows, round_up(m, kPanelRows));
    tiles.columns = std::min(kColumnBytes / static_cast<int64_t>(sizeof(S)), round_up(n, kPanelColumns<S>));
    tiles.depth = std::clamp<int64_t>(k, 1, kDepth);
    tiles.down = (m + tiles.rows - 1) / tiles.rows;
    tiles.across = (n + tiles.columns - 1) / tiles.columns;
    return tiles;
  }
  int64_t count() const { return down * across; }
  template <class S>
  int64_t room_bytes() const {
    return left_bytes<S>() + right_bytes<S>() + rows * columns * static_cast<int64_t>(sizeof(S));
  }

  /// Tile `tile` of one product. pack_left(first row, rows, first depth, depths, to) fills panels of kPanelRows rows,
  /// pack_right(first column, columns, ..) of kPanelColumns<S> columns, with zeros behind the last;
  /// store(row, column, columns, sums) is called for each row. kInOrder: begin(row, column, columns, sums) says what
  /// each row's sums begin with.
  template <class S, class PackLeft, class PackRight, class Store, class Begin>
  void multiply(int64_t tile, std::byte* room, PackLeft&& pack_left, PackRight&& pack_right, Store&& store,
                Joining joining, Begin&& begin) const {
    const int64_t row = tile / across * rows, column = tile % across * columns;
    const int64_t some_rows = std::min(rows, m - row), some_columns = std::min(columns, n - column);
    S* left = reinterpret_cast<S*>(room);
    S* right = reinterpret_cast<S*>(room + left_bytes<S>());
    S* sums = reinterpret_cast<S*>(room + left_bytes<S>() + right_bytes<S>());
    std::memset(static_cast<void*>(sums), 0, sizeof(S) * static_cast<size_t>(rows * columns));
    if (joining == Joining::kInOrder) {
      for (int64_t i = 0; i < some_rows; ++i) begin(row + i, column, some_columns, sums + i * columns);
    }
    for (int64_t from = 0; from < k; from += depth) {
      const int64_t some = std::min(depth, k - from);
      pack_left(row, some_rows, from, some, left);
      pack_right(column, some_columns, from, some, right);
      for (int64_t j = 0; j < some_columns; j += kPanelColumns<S>) {
        for (int64_t i = 0; i < some_rows; i += kPanelRows) {
          multiply_panels<S>(left + i * some, right + j * some, some,
                             {sums + i * columns + j, columns, some_columns - j}, joining);
        }
      }
    }
    for (int64_t i = 0; i < some_rows; ++i) store(row + i, column, some_columns, sums + i * columns);
  }

  /// Sums of nothing before, in parts of `depth` terms.
  template <class S, class PackLeft, class PackRight, class Store>
  void multiply(int64_t tile, std::byte* room, PackLeft&& pack_left, PackRight&& pack_right, Store&& store) const {
    multiply<S>(tile, room, pack_left, pack_right, store, Joining::kAsPart, [](int64_t, int64_t, int64_t, S*) {});
  }

 private:
  template <class S>
  int64_t left_bytes() const {
    return align_scratch(rows * depth * static_cast<int64_t>(sizeof(S)));
  }
  template <class S>
  int64_t right_bytes() const {
    return align_scratch(columns * depth * static_cast<int64_t>(sizeof(S)));
  }
};

}  // namespace lowtide::engine
