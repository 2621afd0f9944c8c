#include "library/convolution_walk.h"

#include <algorithm>

#include "library/panel_kernel.h"
#include "ops/index_space.h"

namespace lowtide::engine {
namespace {

/// With fewer outputs per group, or fewer products per sum, most of a panel would be empty, ..
constexpr int64_t kFewOutputs = 8, kFewTerms = 8;
/// .. which is still better than gathering one position for each lane, if features are contiguous and many.
constexpr int64_t kManyTerms = 64, kManyPositions = 1024;

/// Sizes of a tile: its sums, and the part of the kernel that is packed for it, stay in the second-level cache.
constexpr int64_t kMostRows = 384, kMostColumnBytes = 512, kFewestRows = 24;
/// Enough tiles for threads to share without waiting long for the last.
constexpr int64_t kEnoughTiles = 8;
/// Consecutive taps from which on walking taps is better than walking features, and terms from which on a row is better
/// read where it lies.
constexpr int64_t kLongRun = 16;
/// Copied terms of a tile stay in the first-level cache, and short lines are not worth a copy.
constexpr int64_t kMostCopiedTerms = 32, kShortestLine = 8;

int64_t extent_of(const Shape& shape, int64_t d) { return shape.dims[d]; }
int64_t round_up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

}  // namespace

ConvolutionRoles::ConvolutionRoles(const Shape& shape, int64_t batch, int64_t feature, const Dims& spatial) {
  const Dims all = row_major_strides(shape.dims);
  batch_stride = all[batch];
  feature_stride = all[feature];
  for (size_t d = 0, to = kMostSpatial - spatial.size(); d < spatial.size(); ++d, ++to) {
    extents[to] = shape.dims[spatial[d]];
    strides[to] = all[spatial[d]];
  }
}

ConvolutionWalk::ConvolutionWalk(const Instruction& convolution, int64_t sum_bytes)
    : window_(convolution.as<ConvolutionAttributes>().window) {
  const auto& a = convolution.as<ConvolutionAttributes>();
  const Shape &input = convolution.operand(0).shape, &kernel = convolution.operand(1).shape;
  input_ = {input, a.input_batch, a.input_feature, a.input_spatial};
  kernel_ = {kernel, a.kernel_input_feature, a.kernel_output_feature, a.kernel_spatial};
  output_ = {convolution.shape, a.output_batch, a.output_feature, a.output_spatial};
  batch_ = extent_of(convolution.shape, a.output_batch);
  groups_ = std::max(a.feature_group_count, a.batch_group_count);
  by_batch_ = a.batch_group_count > 1;
  features_ = extent_of(kernel, a.kernel_input_feature);
  outputs_ = extent_of(kernel, a.kernel_output_feature) / groups_;
  const size_t spatial = window_.size.size();
  const auto before_space = [&](int64_t dim) { return spatial > 0 && dim < a.input_spatial[spatial - 1]; };
  batch_first_ = spatial > 0 && !before_space(a.input_batch);
  taps_first_ = before_space(a.input_feature) && window_.size[spatial - 1] >= std::min(features_, kLongRun);
  set_tiles(sum_bytes);
}

bool ConvolutionWalk::is_worth_it() const {
  int64_t terms = features_;
  for (const int64_t size : window_.size) terms *= size;
  const bool gathers = input_.feature_stride == 1 && (groups_ == 1 || features_ > 1) && terms >= kManyTerms &&
                       batch_ * output_.extents[0] * output_.extents[1] * output_.extents[2] >= kManyPositions;
  return terms >= kFewTerms && (gathers || outputs_ >= kFewOutputs);
}

void ConvolutionWalk::set_tiles(int64_t sum_bytes) {
  panel_columns_ = kPanelBytes / sum_bytes;
  tile_columns_ = std::min(kMostColumnBytes / sum_bytes, round_up(std::max<int64_t>(outputs_, 1), panel_columns_));
  across_ = std::max<int64_t>((outputs_ + tile_columns_ - 1) / tile_columns_, 1);
  int64_t most_rows = 0, most_depth = 0, most_copied = 0;
  const std::vector<Phase> phases = phases_of(window_, output_.extents);
  const int64_t others = std::max<int64_t>(1, groups_ * across_ * static_cast<int64_t>(phases.size()));
  const int64_t enough = (kEnoughTiles + others - 1) / others;
  for (const Phase& phase : phases) {
    TiledPhase tiled{.phase = phase, .rows = batch_ * phase.positions(), .depth = phase.taps() * features_};
    const int64_t share = round_up((tiled.rows + enough - 1) / enough, kPanelRows);
    tiled.tile_rows = std::clamp(share, kFewestRows, kMostRows);
    tiled.first_tile = tiles_;
    tiles_ += (tiled.rows + tiled.tile_rows - 1) / tiled.tile_rows * across_;
    most_rows = std::max(most_rows, std::min(tiled.tile_rows, round_up(tiled.rows, kPanelRows)));
    most_depth = std::max(most_depth, std::min(tiled.depth, kConvolutionDepth));
    if (copies_lines(tiled)) most_copied = std::max(most_copied, tiled.depth * tiled.tile_rows);
    phases_.push_back(tiled);
  }
  room_.kernel = align_scratch(most_depth * tile_columns_ * sum_bytes);
  room_.copies = align_scratch(std::max(most_depth * kPanelRows, most_copied) * sum_bytes);
  room_.terms = align_scratch(2 * most_depth * static_cast<int64_t>(sizeof(TermRun)));
  room_.runs = align_scratch(most_depth * static_cast<int64_t>(sizeof(RowRun<float>)));
  room_.rows = align_scratch(most_rows * static_cast<int64_t>(sizeof(Row)));
  room_.sums = most_rows * tile_columns_ * sum_bytes;
}

ConvolutionWalk::Tile ConvolutionWalk::tile_at(int64_t task) const {
  Tile tile{.group = task / tiles_};
  const int64_t index = task % tiles_;
  const auto after = std::ranges::upper_bound(phases_, index, {}, &TiledPhase::first_tile);
  tile.of = &*std::prev(after);
  const int64_t within = index - tile.of->first_tile;
  tile.row = within / across_ * tile.of->tile_rows;
  tile.rows = std::min(tile.of->tile_rows, tile.of->rows - tile.row);
  tile.column = within % across_ * tile_columns_;
  tile.columns = std::min(tile_columns_, outputs_ - tile.column);
  return tile;
}

ConvolutionWalk::Line ConvolutionWalk::line_at(const Tile& tile, int64_t batch, int64_t position, int64_t row) const {
  const Phase& phase = tile.of->phase;
  const PhaseAxis& last = phase.axes[kLast];
  const SpatialIndex at = phase.position_at(position);
  Line line{.first = row_at(tile, batch, at), .row = row};
  line.rows = std::min(tile.rows - row, batch_first_ ? batch_ - batch : last.positions - at[kLast]);
  line.input_step = batch_first_ ? input_.batch_stride : last.per_position * input_.strides[kLast];
  line.first_step = batch_first_ ? 0 : last.per_position;
  line.result_step = batch_first_ ? output_.batch_stride : last.position_step * output_.strides[kLast];
  line.meets_padding = meets_padding(phase, line.first.first, kLast);
  return line;
}

ConvolutionWalk::Start ConvolutionWalk::start_of(const Tile& tile) const {
  if (batch_first_) return {tile.row % batch_, tile.row / batch_};
  const int64_t positions = tile.of->phase.positions();
  return {tile.row / positions, tile.row % positions};
}

ConvolutionWalk::Row ConvolutionWalk::first_of(const Tile& tile) const {
  const auto [batch, position] = start_of(tile);
  return row_at(tile, batch, tile.of->phase.position_at(position));
}

void ConvolutionWalk::find_rows(const Tile& tile, Row* rows) const {
  const PhaseAxis& last = tile.of->phase.axes[kLast];
  const int64_t behind_first = input_.extents[kLast] - (last.taps - 1) * last.per_tap;
  visit_lines(tile, [&](const Line& line) {
    for (int64_t k = 0; k < line.rows; ++k) {
      const int64_t first = line.first.first[kLast] + k * line.first_step;
      Row& row = rows[line.row + k];
      row.input = line.first.input + k * line.input_step;
      row.first = {line.first.first[0], line.first.first[1], first};
      row.result = line.first.result + k * line.result_step;
      row.meets_padding = line.meets_padding || first < 0 || first >= behind_first;
    }
  });
  std::fill(rows + tile.rows, rows + round_up(tile.rows, kPanelRows), rows[tile.rows - 1]);
}

int64_t ConvolutionWalk::result_step(const TiledPhase& tiled) const {
  if (batch_first_) return 0;
  const auto& axes = tiled.phase.axes;
  const int64_t step = axes[kLast].position_step * output_.strides[kLast];
  int64_t next = step * axes[kLast].positions;  // where the dimensions outside have to go on
  for (size_t d = kLast; d-- > 0; next *= axes[d].positions) {
    if (axes[d].positions > 1 && axes[d].position_step * output_.strides[d] != next) return 0;
  }
  return batch_ == 1 || output_.batch_stride == next ? step : 0;
}

ConvolutionWalk::Row ConvolutionWalk::row_at(const Tile& tile, int64_t batch, const SpatialIndex& position) const {
  Row row{.input = (by_batch_ ? tile.group * batch_ + batch : batch) * input_.batch_stride +
                   (by_batch_ ? 0 : tile.group * features_) * input_.feature_stride,
          .result = batch * output_.batch_stride + (tile.group * outputs_ + tile.column) * output_.feature_stride};
  for (size_t d = 0; d < kMostSpatial; ++d) {
    const PhaseAxis& axis = tile.of->phase.axes[d];
    row.first[d] = axis.first_element + position[d] * axis.per_position;
    row.input += row.first[d] * input_.strides[d];
    row.result += (axis.first_position + position[d] * axis.position_step) * output_.strides[d];
  }
  return row;
}

bool ConvolutionWalk::meets_padding(const Phase& phase, const SpatialIndex& first, size_t dimensions) const {
  bool any = false;
  for (size_t d = 0; d < dimensions; ++d) {
    const PhaseAxis& axis = phase.axes[d];
    any |= first[d] < 0 || first[d] + (axis.taps - 1) * axis.per_tap >= input_.extents[d];
  }
  return any;
}

size_t ConvolutionWalk::find_terms(const Phase& phase, int64_t from, int64_t depth, TermRun* runs) const {
  const int64_t taps = phase.taps();
  size_t found = 0;
  for (TermRun run; run.done < depth; run.done += run.count) {
    const int64_t term = from + run.done, left = depth - run.done;
    if (taps_first_) {
      run.tap = phase.tap_at(term % taps);
      run.feature = term / taps;
      run.count = std::min(phase.axes[kLast].taps - run.tap[kLast], left);
    } else {
      run.tap = phase.tap_at(term / features_);
      run.feature = term % features_;
      run.count = std::min(features_ - run.feature, left);
    }
    run.input = run.feature * input_.feature_stride;
    for (size_t d = 0; d < kMostSpatial; ++d) {
      run.reach[d] = run.tap[d] * phase.axes[d].per_tap;
      run.input += run.reach[d] * input_.strides[d];
    }
    runs[found++] = run;
  }
  return found;
}

size_t ConvolutionWalk::join_runs(const Phase& phase, std::span<const TermRun> runs, TermRun* joined) const {
  size_t count = 0;
  for (const TermRun& run : runs) {
    if (count > 0 && joined[count - 1].input + joined[count - 1].count * term_step(phase) == run.input) {
      joined[count - 1].count += run.count;
    } else {
      joined[count++] = run;
    }
  }
  return count;
}

bool ConvolutionWalk::copies_lines(const TiledPhase& tiled) const {
  const PhaseAxis& last = tiled.phase.axes[kLast];
  const bool are_neighbours = !batch_first_ && last.per_position == 1 && input_.strides[kLast] == 1;
  return are_neighbours && last.positions >= kShortestLine && tiled.depth <= kMostCopiedTerms &&
         (taps_first_ ? last.taps : features_) < kLongRun;
}

ConvolutionWalk::KernelRun ConvolutionWalk::kernel_run(const Tile& tile, const TermRun& run) const {
  KernelRun found{(tile.group * outputs_ + tile.column) * kernel_.feature_stride + run.feature * kernel_.batch_stride,
                  kernel_.batch_stride};
  for (size_t w = 0, d = kMostSpatial - window_.size.size(); d < kMostSpatial; ++w, ++d) {
    const PhaseAxis& axis = tile.of->phase.axes[d];
    const int64_t tap = axis.first_tap + run.tap[d] * axis.tap_step;
    found.at += (window_.rhs_reversal[w] ? window_.size[w] - 1 - tap : tap) * kernel_.strides[d];
    if (taps_first_ && d == kLast)
      found.along = axis.tap_step * kernel_.strides[d] * (window_.rhs_reversal[w] ? -1 : 1);
  }
  return found;
}

}  // namespace lowtide::engine
