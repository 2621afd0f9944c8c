#pragma once
/// Which elements a convolution multiplies, in which order: rows are positions of the window in all batches, and a term
/// of a row is a tap of its window in one feature. What lies nearest in memory is walked first, rows and terms alike:
/// gradients of kernels have both the other way round than what they are gradients of.

#include <span>

#include "library/convolution_phases.h"
#include "library/lanes.h"

namespace lowtide::engine {

/// Terms that are summed before they join the sums of those before them.
inline constexpr int64_t kConvolutionDepth = 512;

/// Extents and strides of the roles of one array.
struct ConvolutionRoles {
  int64_t batch_stride = 0, feature_stride = 0;
  SpatialIndex extents{1, 1, 1}, strides{};

  ConvolutionRoles() = default;
  ConvolutionRoles(const Shape& shape, int64_t batch, int64_t feature, const Dims& spatial);
};

class ConvolutionWalk {
 public:
  /// A phase in tiles of equal rows; tiles of all phases are counted through.
  struct TiledPhase {
    Phase phase;
    int64_t rows = 0, depth = 0;  ///< positions of all batches, terms of each
    int64_t tile_rows = 0, first_tile = 0;
  };
  struct Tile {
    const TiledPhase* of;
    int64_t group, row, rows, column, columns;
  };

  /// A row of a tile: one position of one batch.
  struct Row {
    int64_t input = 0;           ///< where its first term lies, in elements, or would without padding
    SpatialIndex first{};        ///< the element that its first tap meets, along each dimension
    int64_t result = 0;          ///< where its first column lies
    bool meets_padding = false;  ///< with any tap
  };

  /// Terms of which one index alone changes, as the order of terms walks them: of features, or of the last
  /// dimension's taps.
  struct TermRun {
    SpatialIndex tap{};
    int64_t feature = 0;
    int64_t done = 0, count = 0;  ///< from the first asked for
    SpatialIndex reach{};         ///< elements from a row's first tap to this one
    int64_t input = 0;            ///< from a row's first term to this one
  };

  /// sum_bytes: of what an element is summed in.
  ConvolutionWalk(const Instruction& convolution, int64_t sum_bytes);

  /// Are panels filled well enough?
  bool is_worth_it() const;
  /// Tiles of all groups, and bytes of one lane's room: what follows each other there.
  int64_t tiles() const { return groups_ * tiles_; }
  struct Room {
    int64_t kernel = 0, copies = 0, terms = 0, runs = 0, rows = 0, sums = 0;  ///< bytes
    int64_t all() const { return kernel + copies + terms + runs + rows + sums; }
  };
  const Room& room() const { return room_; }

  Tile tile_at(int64_t task) const;
  /// The rows of a tile, in whole panels: padded by repeating the last one.
  void find_rows(const Tile& tile, Row* rows) const;
  /// Runs of terms [from, from + depth), and how many they are: at most depth.
  size_t find_terms(const Phase& phase, int64_t from, int64_t depth, TermRun* runs) const;
  /// The same terms for rows that meet no padding: runs of which the next begins where the last one ends are one.
  size_t join_runs(const Phase& phase, std::span<const TermRun> runs, TermRun* joined) const;
  /// Elements from one term of a run to the next.
  int64_t term_step(const Phase& phase) const {
    return taps_first_ ? phase.axes[kLast].per_tap * input_.strides[kLast] : input_.feature_stride;
  }
  /// Does the row meet elements there, along the first dimensions?
  bool meets(const Row& row, const TermRun& run, size_t dimensions) const {
    bool all = true;
    for (size_t d = 0; d < dimensions; ++d) {
      all &= static_cast<uint64_t>(row.first[d] + run.reach[d]) < static_cast<uint64_t>(input_.extents[d]);
    }
    return all;
  }

  /// Of a run: the element of the kernel that its first term multiplies for the first column of a tile, and elements
  /// from one term to the next.
  struct KernelRun {
    int64_t at = 0, along = 0;
  };
  KernelRun kernel_run(const Tile& tile, const TermRun& run) const;

  const ConvolutionRoles& input() const { return input_; }
  const ConvolutionRoles& kernel() const { return kernel_; }  ///< its "batch" are the input features
  const ConvolutionRoles& output() const { return output_; }
  bool walks_taps_first() const { return taps_first_; }
  int64_t panel_columns() const { return panel_columns_; }
  int64_t tile_columns() const { return tile_columns_; }

 private:
  void set_tiles(int64_t sum_bytes);
  Row row_at(const Tile& tile, int64_t batch, const SpatialIndex& position) const;
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

}  // namespace lowtide::engine
