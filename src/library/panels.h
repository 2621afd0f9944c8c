#pragma once
/// One tile of a product: the caller packs panels, one block of depth at a time; sums are in `room`.

#include <algorithm>
#include <cstring>

#include "library/lanes.h"
#include "library/panel_kernel.h"

namespace lowtide::engine {

struct PanelTiles {
  /// A multiple of kPanelRows. More if left isn't packed, because each tile packs its columns of right again.
  static constexpr int64_t kRows = 96, kRowsInPlace = 192;
  static constexpr int64_t kDepth = 256;  ///< a right panel of it, with its rows of left, fits a first-level cache
  static constexpr int64_t kColumnBytes = 1024;  ///< of a row of sums; a multiple of kPanelBytes

  int64_t m = 0, n = 0, k = 0;               ///< of one product
  int64_t rows = 0, columns = 0, depth = 0;  ///< of one tile
  int64_t down = 0, across = 0;              ///< tiles
  bool in_place = false;                     ///< are rows of left read in place?

  /// Fewer columns, then fewer rows than usual if a product with many terms would have fewer than `few` tiles.
  template <class S>
  static PanelTiles of(int64_t m, int64_t n, int64_t k, bool in_place, int64_t few = 1) {
    const auto round_up = [](int64_t x, int64_t to) { return (std::max<int64_t>(x, 1) + to - 1) / to * to; };
    PanelTiles tiles{.m = m, .n = n, .k = k, .in_place = in_place};
    tiles.rows = std::min(in_place ? kRowsInPlace : kRows, round_up(m, kPanelRows));
    tiles.columns = std::min(kColumnBytes / static_cast<int64_t>(sizeof(S)), round_up(n, kPanelColumns<S>));
    tiles.depth = std::clamp<int64_t>(k, 1, kDepth);
    const auto share = [&] {
      tiles.down = (m + tiles.rows - 1) / tiles.rows;
      tiles.across = (n + tiles.columns - 1) / tiles.columns;
      return tiles.count() >= few || k < kDepth;
    };
    while (!share() && tiles.columns > kPanelColumns<S>) tiles.columns = round_up(tiles.columns / 2, kPanelColumns<S>);
    while (!share() && tiles.rows > 4 * kPanelRows) tiles.rows = round_up(tiles.rows / 2, kPanelRows);
    return tiles;
  }
  int64_t count() const { return down * across; }
  template <class S>
  int64_t room_bytes() const {
    return left_bytes<S>() + right_bytes<S>() + rows * columns * static_cast<int64_t>(sizeof(S));
  }

  /// Tile `tile` of one product. pack_left(first row, rows, first depth, depths, to) fills panels of kPanelRows rows;
  /// if left is read in place, row_at(row, depth) returns the address of a row's contiguous terms. pack_right(first
  /// column, columns, ..) fills panels of kPanelColumns<S> columns, padded with zeros; store(row, rows, column,
  /// columns, sums) is called once, and rows of sums are `this->columns` apart. kInOrder: begin(row, column, columns,
  /// sums) initialises each row's sums.
  template <class S, class PackLeft, class RowAt, class PackRight, class Store, class Begin>
  void multiply(int64_t tile, std::byte* room, PackLeft&& pack_left, RowAt&& row_at, PackRight&& pack_right,
                Store&& store, Joining joining, Begin&& begin) const {
    const int64_t row = tile / across * rows, column = tile % across * columns;
    const int64_t some_rows = std::min(rows, m - row), some_columns = std::min(columns, n - column);
    S* left = reinterpret_cast<S*>(room);
    S* right = reinterpret_cast<S*>(room + left_bytes<S>());
    S* sums = reinterpret_cast<S*>(room + left_bytes<S>() + right_bytes<S>());
    const bool in_order = joining == Joining::kInOrder;
    if (in_order || k == 0) std::memset(static_cast<void*>(sums), 0, sizeof(S) * static_cast<size_t>(rows * columns));
    if (in_order) {
      for (int64_t i = 0; i < some_rows; ++i) begin(row + i, column, some_columns, sums + i * columns);
    }
    for (int64_t from = 0; from < k; from += depth) {
      const int64_t some = std::min(depth, k - from);
      const Joining part = from == 0 && !in_order ? Joining::kAlone : joining;
      if (!in_place) pack_left(row, some_rows, from, some, left);
      pack_right(column, some_columns, from, some, right);
      for (int64_t j = 0; j < some_columns; j += kPanelColumns<S>) {
        for (int64_t i = 0; i < some_rows; i += kPanelRows) {
          const PanelSums<S> to{sums + i * columns + j, columns, some_columns - j};
          if (in_place) {
            RowRun<S> run{.depth = some};
            for (int64_t r = 0; r < kPanelRows; ++r) {  // rows beyond the last repeat it, for unused sums
              run.rows[r] = row_at(row + std::min(i + r, some_rows - 1), from);
            }
            multiply_rows<S>(std::span<const RowRun<S>>(&run, 1), right + j * some, to, part);
          } else {
            multiply_panels<S>(left + i * some, right + j * some, some, to, part);
          }
        }
      }
    }
    store(row, some_rows, column, some_columns, sums);
  }

 private:
  template <class S>
  int64_t left_bytes() const {
    return in_place ? 0 : align_scratch(rows * depth * static_cast<int64_t>(sizeof(S)));
  }
  template <class S>
  int64_t right_bytes() const {
    return align_scratch(columns * depth * static_cast<int64_t>(sizeof(S)));
  }
};

}  // namespace lowtide::engine
