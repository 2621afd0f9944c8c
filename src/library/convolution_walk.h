#pragma once
/// The elements that a convolution multiplies, in order: a row is a position of the window in one batch, and a term of
/// a row is a tap of its window in one feature. Rows and terms are walked along the smallest strides first: in
/// gradients of kernels both orders are the reverse of those in the convolution itself.

#include <span>

#include "library/convolution_phases.h"
#include "library/lanes.h"

namespace lowtide::engine {

/// Number of terms that are summed by themselves before they are added to the sums of earlier terms.
inline constexpr int64_t kConvolutionDepth = 512;

/// Extents and strides of one array's dimensions, by their roles.
struct ConvolutionRoles {
  int64_t batch_stride = 0, feature_stride = 0;
  SpatialIndex extents{1, 1, 1}, strides{};

  ConvolutionRoles() = default;
  ConvolutionRoles(const Shape& shape, int64_t batch, int64_t feature, const Dims& spatial);
};

class ConvolutionWalk {
 public:
  /// A phase cut into tiles of equally many rows; tiles are numbered across all phases.
  struct TiledPhase {
    Phase phase;
    int64_t rows = 0, depth = 0;  ///< rows: positions in all batches; depth: terms of each
    int64_t tile_rows = 0, first_tile = 0;
  };
  struct Tile {
    const TiledPhase* of;
    int64_t group, row, rows, column, columns;
  };

  /// A row of a tile: one position of one batch.
  struct Row {
    int64_t input = 0;           ///< offset of its first term, in elements, even if that is padding
    SpatialIndex first{};        ///< the element that its first tap reads, along each dimension
    int64_t result = 0;          ///< offset of its first column in the result
    bool meets_padding = false;  ///< at any tap
  };

  /// Consecutive terms in which only one index changes: the feature, or the last dimension's tap (walks_taps_first).
  struct TermRun {
    SpatialIndex tap{};
    int64_t feature = 0;
    int64_t done = 0, count = 0;  ///< done: terms before it, from the first requested one
    SpatialIndex reach{};         ///< elements from a row's first tap to this one
    int64_t input = 0;            ///< offset from a row's first term to this one
  };

  /// sum_bytes: size of the type in which elements are summed.
  ConvolutionWalk(const Instruction& convolution, int64_t sum_bytes);

  /// Are panels filled well enough to make this worthwhile?
  bool is_worth_it() const;
  /// The number of tiles, in all groups.
  int64_t tiles() const { return groups_ * tiles_; }
  struct Room {
    int64_t kernel = 0, copies = 0, terms = 0, runs = 0, rows = 0, sums = 0;  ///< bytes, consecutive in scratch
    int64_t all() const { return kernel + copies + terms + runs + rows + sums; }
  };
  const Room& room() const { return room_; }

  Tile tile_at(int64_t task) const;
  /// Rows of a tile that differ in one index only, by constant steps.
  struct Line {
    Row first;
    int64_t row = 0, rows = 0;  ///< of the tile
    int64_t input_step = 0, first_step = 0, result_step = 0;
    bool meets_padding = false;  ///< along another dimension: then all rows do
  };
  /// Calls visit(line) for all lines of a tile, in order.
  template <class Visit>
  void visit_lines(const Tile& tile, Visit&& visit) const;
  /// The first row of a tile.
  Row first_of(const Tile& tile) const;
  /// The rows of a tile, filled up to whole panels by repeating the last one.
  void find_rows(const Tile& tile, Row* rows) const;
  /// The distance between the results of neighbouring rows, if it is the same for all rows of a phase; else 0.
  int64_t result_step(const TiledPhase& tiled) const;
  /// Finds the runs of terms [from, from + depth), and returns their number: at most depth.
  size_t find_terms(const Phase& phase, int64_t from, int64_t depth, TermRun* runs) const;
  /// The same terms for rows that meet no padding: runs that continue each other are merged.
  size_t join_runs(const Phase& phase, std::span<const TermRun> runs, TermRun* joined) const;
  /// Elements from one term of a run to the next.
  int64_t term_step(const Phase& phase) const {
    return taps_first_ ? phase.axes[kLast].per_tap * input_.strides[kLast] : input_.feature_stride;
  }
  /// Are a tile's rows copied term by term, with zeros for padding, rather than read where they lie? For short runs of
  /// terms, where neighbouring rows of a line are neighbours in memory.
  bool copies_lines(const TiledPhase& tiled) const;
  /// Does this tap of the row meet elements, not padding, along the first `dimensions` dimensions?
  bool meets(const Row& row, const TermRun& run, size_t dimensions) const {
    bool all = true;
    for (size_t d = 0; d < dimensions; ++d) {
      all &= static_cast<uint64_t>(row.first[d] + run.reach[d]) < static_cast<uint64_t>(input_.extents[d]);
    }
    return all;
  }

  /// For a run of terms: the kernel element that its first term multiplies for a tile's first column, and the stride
  /// from one term to the next.
  struct KernelRun {
    int64_t at = 0, along = 0;
  };
  KernelRun kernel_run(const Tile& tile, const TermRun& run) const;

  const ConvolutionRoles& input() const { return input_; }
  const ConvolutionRoles& kernel() const { return kernel_; }  ///< its "batch" is the input feature
  const ConvolutionRoles& output() const { return output_; }
  bool walks_taps_first() const { return taps_first_; }
  int64_t panel_columns() const { return panel_columns_; }
  int64_t tile_columns() const { return tile_columns_; }

 private:
  void set_tiles(int64_t sum_bytes);
  Row row_at(const Tile& tile, int64_t batch, const SpatialIndex& position) const;
  /// Which position, of which batch, is a tile's first row?
  struct Start {
    int64_t batch, position;
  };
  Start start_of(const Tile& tile) const;
  Line line_at(const Tile& tile, int64_t batch, int64_t position, int64_t row) const;
  bool meets_padding(const Phase& phase, const SpatialIndex& first, size_t dimensions) const;

  Window window_;
  ConvolutionRoles input_, kernel_, output_;
  int64_t batch_ = 0, groups_ = 1, features_ = 0, outputs_ = 0;  ///< features and outputs of one group
  bool by_batch_ = false;
  bool batch_first_ = false, taps_first_ = false;  ///< rows by batch, then position; terms by tap, then feature
  std::vector<TiledPhase> phases_;
  int64_t tiles_ = 0;  ///< of one group
  int64_t panel_columns_ = 0, tile_columns_ = 0, across_ = 1;
  Room room_;
};

template <class Visit>
void ConvolutionWalk::visit_lines(const Tile& tile, Visit&& visit) const {
  const int64_t positions = tile.of->phase.positions();
  auto [batch, position] = start_of(tile);
  for (int64_t row = 0; row < tile.rows;) {
    const Line line = line_at(tile, batch, position, row);
    visit(line);
    row += line.rows;
    position += batch_first_ ? 1 : line.rows;
    if (batch_first_) {
      batch = 0;
    } else if (position == positions) {
      position = 0;
      ++batch;
    }
  }
}

}  // namespace lowtide::engine
