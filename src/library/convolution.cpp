/// convolution as products of rows by panels: a row is a position of the window, whose elements are read where they
/// lie, so that nothing is unrolled in memory. Every labelling, dilation, reversal and grouping.
#include <array>
#include <utility>

#include "library/convert.h"
#include "library/convert_row.h"
#include "library/convolution_phases.h"
#include "library/lanes.h"
#include "library/panel_kernel.h"
#include "library/routines.h"
#include "library/gemm.h"
#include "ops/index_space.h"

namespace lowtide::engine {
namespace {

/// Groups with fewer outputs, or sums of fewer products, leave most of a panel empty, ..
constexpr int64_t kFewOutputs = 8, kFewTerms = 8;
/// .. which is still better than to gather one position for each lane, where features lie side by side and are many.
constexpr int64_t kManyTerms = 64, kManyPositions = 1024;

/// Terms that are summed before they join the sums of those before them.
constexpr int64_t kDepth = 512;
/// Of a tile: its sums, and a part of the kernel that is packed for it, stay in the second cache.
constexpr int64_t kMostRows = 384, kMostColumns = 128, kFewestRows = 24;
/// Tiles that threads can share without waiting long for the last.
constexpr int64_t kEnoughTiles = 8;

/// Terms after each other that are worth it to walk taps rather than features.
constexpr int64_t kLongRun = 16;

/// Extents and strides of the roles of one array.
struct Roles {
  int64_t batch_stride = 0, feature_stride = 0;
  Position extents{1, 1, 1}, strides{};

  Roles() = default;
  Roles(const Shape& shape, int64_t batch, int64_t feature, const Dims& spatial) {
    const Dims all = row_major_strides(shape.dims);
    batch_stride = all[static_cast<size_t>(batch)];
    feature_stride = all[static_cast<size_t>(feature)];
    for (size_t d = 0, to = kMostSpatial - spatial.size(); d < spatial.size(); ++d, ++to) {
      extents[to] = shape.dims[static_cast<size_t>(spatial[d])];
      strides[to] = all[static_cast<size_t>(spatial[d])];
    }
  }
};

int64_t extent_of(const Shape& shape, int64_t d) { return shape.dims[static_cast<size_t>(d)]; }
int64_t round_up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

/// Zeros that rows in the padding read.
template <class S>
const S* zeros() {
  static constexpr std::array<S, kDepth> kZeros{};
  return kZeros.data();
}

class Convolution : public LibraryRoutine {
 public:
  explicit Convolution(const Instruction& convolution)
      : window_(convolution.as<ConvolutionAttributes>().window) {
    const auto& a = convolution.as<ConvolutionAttributes>();
    const Shape &input = convolution.operand(0).shape, &kernel = convolution.operand(1).shape;
    input_type_ = input.type;
    kernel_type_ = kernel.type;
    result_type_ = convolution.shape.type;
    input_ = {input, a.input_batch, a.input_feature, a.input_spatial};
    kernel_ = {kernel, a.kernel_input_feature, a.kernel_output_feature, a.kernel_spatial};
    output_ = {convolution.shape, a.output_batch, a.output_feature, a.output_spatial};
    batch_ = extent_of(convolution.shape, a.output_batch);
    groups_ = std::max(a.feature_group_count, a.batch_group_count);
    by_batch_ = a.batch_group_count > 1;
    features_ = extent_of(kernel, a.kernel_input_feature);
    outputs_ = extent_of(kernel, a.kernel_output_feature) / groups_;
    // What lies nearest in memory is walked first, rows and terms alike: gradients of kernels have both the other way.
    const size_t spatial = window_.size.size();
    const auto before_space = [&](int64_t dim) { return spatial > 0 && dim < a.input_spatial[spatial - 1]; };
    batch_first_ = spatial > 0 && !before_space(a.input_batch);
    taps_first_ = before_space(a.input_feature) && window_.size[spatial - 1] >= std::min(features_, kLongRun);
    set_tiles(dispatch(result_type_, [&]<class T>() { return static_cast<int64_t>(sizeof(summed_t<T>)); }));
  }

  bool is_worth_it() const {
    const int64_t terms = window_terms() * features_;
    const bool gathers = input_.feature_stride == 1 && (groups_ == 1 || features_ > 1) && terms >= kManyTerms &&
                         batch_ * output_.extents[0] * output_.extents[1] * output_.extents[2] >= kManyPositions;
    return terms >= kFewTerms && (gathers || outputs_ >= kFewOutputs);
  }
  int64_t scratch_bytes() const override { return lanes_.scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    dispatch(result_type_, [&]<class T>() {
      using S = summed_t<T>;
      dispatch(input_type_, [&]<class E>() {
        if constexpr (sums_in<E, S>) {
          lanes_.run(pool, scratch, [&](int64_t task, std::byte* room) {
            compute_tile<T, S>(tile_at(task), static_cast<const E*>(operands[0]), operands[1],
                               static_cast<T*>(results[0]), room);
          });
        }
      });
    });
    return {};
  }

 private:
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
    Position first{};            ///< the element that its first tap meets, along each dimension
    int64_t result = 0;          ///< where its first column lies
    bool meets_padding = false;  ///< with any tap
  };

  /// Terms of which one index alone changes, as the order of terms walks them: of features, or of the last
  /// dimension's taps.
  struct TermRun {
    Position tap{};
    int64_t feature = 0;
    int64_t done = 0, count = 0;  ///< from the first asked for
    Position reach{};             ///< elements from a row's first tap to this one
    int64_t input = 0;            ///< from a row's first term to this one
  };

  int64_t window_terms() const {
    int64_t taps = 1;
    for (const int64_t size : window_.size) taps *= size;
    return taps;
  }

  void set_tiles(int64_t sum_bytes) {
    panel_columns_ = kPanelBytes / sum_bytes;
    tile_columns_ = std::min(kMostColumns * 4 / sum_bytes, round_up(std::max<int64_t>(outputs_, 1), panel_columns_));
    across_ = std::max<int64_t>((outputs_ + tile_columns_ - 1) / tile_columns_, 1);
    int64_t most_rows = 0, most_depth = 0;
    const std::vector<Phase> phases = phases_of(window_, output_.extents);
    const int64_t others = groups_ * across_ * static_cast<int64_t>(phases.size());
    const int64_t enough = (kEnoughTiles + others - 1) / others;
    for (const Phase& phase : phases) {
      TiledPhase tiled{.phase = phase, .rows = batch_ * phase.positions(), .depth = phase.taps() * features_};
      const int64_t share = round_up((tiled.rows + enough - 1) / enough, kPanelRows);
      tiled.tile_rows = std::clamp(share, kFewestRows, kMostRows);
      tiled.first_tile = tiles_;
      tiles_ += (tiled.rows + tiled.tile_rows - 1) / tiled.tile_rows * across_;
      most_rows = std::max(most_rows, std::min(tiled.tile_rows, round_up(tiled.rows, kPanelRows)));
      most_depth = std::max(most_depth, std::min(tiled.depth, kDepth));
      phases_.push_back(std::move(tiled));
    }
    kernel_bytes_ = align_scratch(most_depth * tile_columns_ * sum_bytes);
    copies_bytes_ = align_scratch(most_depth * kPanelRows * sum_bytes);
    runs_bytes_ = align_scratch(most_depth * static_cast<int64_t>(sizeof(RowRun<float>)));
    terms_bytes_ = align_scratch(2 * most_depth * static_cast<int64_t>(sizeof(TermRun)));
    rows_bytes_ = align_scratch(most_rows * static_cast<int64_t>(sizeof(Row)));
    lanes_ = Lanes(groups_ * tiles_, kernel_bytes_ + copies_bytes_ + runs_bytes_ + terms_bytes_ + rows_bytes_ +
                                         most_rows * tile_columns_ * sum_bytes);
  }

  Tile tile_at(int64_t task) const {
    Tile tile{.group = task / tiles_};
    const int64_t index = task % tiles_;
    const auto behind = std::ranges::upper_bound(phases_, index, {}, &TiledPhase::first_tile);
    tile.of = &*std::prev(behind);
    const int64_t within = index - tile.of->first_tile;
    tile.row = within / across_ * tile.of->tile_rows;
    tile.rows = std::min(tile.of->tile_rows, tile.of->rows - tile.row);
    tile.column = within % across_ * tile_columns_;
    tile.columns = std::min(tile_columns_, outputs_ - tile.column);
    return tile;
  }

  template <class T, class S, class E>
  void compute_tile(const Tile& tile, const E* input, const void* kernel, T* result, std::byte* room) const {
    const auto take = [&]<class Item>(int64_t bytes) { return reinterpret_cast<Item*>(std::exchange(room, room + bytes)); };
    S* const packed = take.template operator()<S>(kernel_bytes_);
    S* const copies = take.template operator()<S>(copies_bytes_);
    auto* const terms = take.template operator()<TermRun>(terms_bytes_);
    auto* const runs = take.template operator()<RowRun<S>>(runs_bytes_);
    auto* const rows = take.template operator()<Row>(rows_bytes_);
    S* const sums = reinterpret_cast<S*>(room);
    find_rows(tile, rows);
    if (tile.of->depth == 0) std::fill(sums, sums + round_up(tile.rows, kPanelRows) * tile_columns_, S{});
    for (int64_t from = 0; from < tile.of->depth; from += kDepth) {
      const int64_t depth = std::min(kDepth, tile.of->depth - from);
      const Joining joining = from == 0 ? Joining::kAlone : Joining::kAsPart;
      const std::span<const TermRun> walked(terms, find_terms(tile.of->phase, from, depth, terms));
      const std::span<const TermRun> joined(terms + depth, join_runs(tile.of->phase, walked, terms + depth));
      dispatch(kernel_type_, [&]<class K>() {
        if constexpr (sums_in<K, S>) pack_kernel(static_cast<const K*>(kernel), tile, walked, depth, packed);
      });
      for (int64_t i = 0; i < tile.rows; i += kPanelRows) {
        const std::span<const RowRun<S>> found(runs, find_elements(input, tile.of->phase, rows + i, walked, joined, copies, runs));
        PanelSums<S> to{sums + i * tile_columns_, tile_columns_, tile.columns};
        if constexpr (std::is_same_v<T, S>) {
          if (stores_whole_panels(tile, rows + i, i)) to = {result + rows[i].result, rows[i + 1].result - rows[i].result, tile.columns};
        }
        for (int64_t j = 0; j < tile.columns; j += panel_columns_, to.at += panel_columns_, to.columns -= panel_columns_) {
          multiply_rows<S>(found, packed + j * depth, to, joining);
        }
      }
    }
    for (int64_t i = 0; i < tile.rows; ++i) {
      const int64_t panel = i / kPanelRows * kPanelRows;
      if (std::is_same_v<T, S> && tile.of->depth > 0 && stores_whole_panels(tile, rows + panel, panel)) {
        i = panel + kPanelRows - 1;
      } else {
        store(tile, sums + i * tile_columns_, result + rows[i].result);
      }
    }
  }

  /// Do a panel's results lie as sums do: whole vectors, a row as far from the next as all are? Then they are summed
  /// where they lie.
  bool stores_whole_panels(const Tile& tile, const Row* rows, int64_t first) const {
    constexpr int64_t kVectors = 2;
    if (first + kPanelRows > tile.rows || output_.feature_stride != 1 || tile.columns % (panel_columns_ / kVectors) != 0) {
      return false;
    }
    const int64_t step = rows[1].result - rows[0].result;
    for (int64_t r = 2; r < kPanelRows; ++r) {
      if (rows[r].result - rows[r - 1].result != step) return false;
    }
    return true;
  }

  template <class T, class S>
  void store(const Tile& tile, const S* sums, T* to) const {
    if constexpr (std::is_same_v<T, S> || std::is_same_v<T, BFloat16>) {
      if (output_.feature_stride == 1) return convert_row(sums, tile.columns, to);
    }
    for (int64_t j = 0; j < tile.columns; ++j) to[j * output_.feature_stride] = from_sum<T>(sums[j]);
  }

  /// Those of a tile, by whole panels: behind the last stands the last again.
  void find_rows(const Tile& tile, Row* rows) const {
    const Phase& phase = tile.of->phase;
    const int64_t positions = phase.positions();
    int64_t batch = batch_first_ ? tile.row % batch_ : tile.row / positions;
    int64_t position = batch_first_ ? tile.row / batch_ : tile.row % positions;
    // Rows of one line of the walk differ in one index alone, and by the same steps.
    for (int64_t i = 0; i < tile.rows;) {
      const Position at = phase.position_at(position);
      const PhaseAxis& last = phase.axes[kLast];
      const int64_t line = batch_first_ ? batch_ - batch : last.positions - at[kLast];
      const int64_t behind = std::min(tile.rows, i + line);
      const Row begin = row_at(tile, batch, at);
      const int64_t input_step = batch_first_ ? input_.batch_stride : last.per_position * input_.strides[kLast];
      const int64_t result_step = batch_first_ ? output_.batch_stride : last.position_step * output_.strides[kLast];
      const int64_t first_step = batch_first_ ? 0 : last.per_position;
      const bool line_meets = meets_padding(phase, begin.first, kLast);
      const int64_t behind_first = input_.extents[kLast] - (last.taps - 1) * last.per_tap;
      position += batch_first_ ? 1 : behind - i;
      for (int64_t k = 0; i < behind; ++i, ++k) {
        const int64_t first = begin.first[kLast] + k * first_step;
        Row& row = rows[i];
        row.input = begin.input + k * input_step;
        row.first = {begin.first[0], begin.first[1], first};
        row.result = begin.result + k * result_step;
        row.meets_padding = line_meets || first < 0 || first >= behind_first;
      }
      if (batch_first_) {
        batch = 0;
      } else if (position == positions) {
        position = 0;
        ++batch;
      }
    }
    std::fill(rows + tile.rows, rows + round_up(tile.rows, kPanelRows), rows[tile.rows - 1]);
  }

  Row row_at(const Tile& tile, int64_t batch, const Position& position) const {
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

  /// Does a row that begins there meet padding along the first dimensions?
  bool meets_padding(const Phase& phase, const Position& first, size_t dimensions) const {
    bool any = false;
    for (size_t d = 0; d < dimensions; ++d) {
      const PhaseAxis& axis = phase.axes[d];
      any |= first[d] < 0 || first[d] + (axis.taps - 1) * axis.per_tap >= input_.extents[d];
    }
    return any;
  }

  size_t find_terms(const Phase& phase, int64_t from, int64_t depth, TermRun* runs) const {
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

  /// The same terms for rows that meet no padding: runs of which the next begins where the last one ends are one.
  size_t join_runs(const Phase& phase, std::span<const TermRun> runs, TermRun* joined) const {
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

  /// Elements from one term of a run to the next.
  int64_t term_step(const Phase& phase) const {
    return taps_first_ ? phase.axes[kLast].per_tap * input_.strides[kLast] : input_.feature_stride;
  }

  /// Where these terms of a panel's rows lie; those that don't lie as they are needed are copied.
  template <class E, class S>
  size_t find_elements(const E* input, const Phase& phase, const Row* rows, std::span<const TermRun> terms,
                       std::span<const TermRun> joined, S* copies, RowRun<S>* runs) const {
    const bool padded = std::any_of(rows, rows + kPanelRows, [](const Row& row) { return row.meets_padding; });
    const int64_t step = term_step(phase);
    if (!taps_first_ && step == 1) return find_near(input, rows, terms, joined, copies, runs);
    RowRun<S>* to = runs;
    for (const TermRun& run : padded ? terms : joined) {
      S* const copy = copies + run.done * kPanelRows;
      Elements<E> at;
      for (size_t r = 0; r < at.size(); ++r) at[r] = input + rows[r].input + run.input;
      if (!padded) {
        set_run(at, step, run.count, copy, *to++);
      } else if (taps_first_) {
        to = add_taps(at, phase.axes[kLast].per_tap, rows, run, copy, to);
      } else {
        for (size_t r = 0; r < at.size(); ++r) {
          if (!meets(rows[r], run, kMostSpatial)) at[r] = nullptr;
        }
        set_run(at, step, run.count, copy, *to++);
      }
    }
    return static_cast<size_t>(to - runs);
  }

  /// Where features lie side by side: rows that meet padding, or are to be widened, are copied, terms in their order.
  template <class E, class S>
  size_t find_near(const E* input, const Row* rows, std::span<const TermRun> terms, std::span<const TermRun> joined,
                   S* copies, RowRun<S>* runs) const {
    const int64_t depth = terms.back().done + terms.back().count;
    std::array<const S*, kPanelRows> copied{};
    for (size_t r = 0; r < copied.size(); ++r) {
      const Row& row = rows[r];
      if (std::is_same_v<E, S> && !row.meets_padding) continue;
      S* const to = copies + static_cast<int64_t>(r) * depth;
      copied[r] = to;
      for (const TermRun& run : row.meets_padding ? terms : joined) {
        if (!row.meets_padding || meets(row, run, kMostSpatial)) {
          to_sums(input + row.input + run.input, run.count, to + run.done);
        } else {
          std::fill_n(to + run.done, run.count, S{});
        }
      }
    }
    if (std::ranges::all_of(copied, [](const S* row) { return row != nullptr; })) {
      runs[0] = {copied, 1, depth};
      return 1;
    }
    size_t count = 0;
    if constexpr (std::is_same_v<E, S>) {
      for (const TermRun& run : joined) {
        RowRun<S>& to = runs[count++];
        to.step = 1;
        to.depth = run.count;
        for (size_t r = 0; r < copied.size(); ++r) {
          to.rows[r] = copied[r] != nullptr ? copied[r] + run.done : input + rows[r].input + run.input;
        }
      }
    }
    return count;
  }

  /// Six rows' elements; null for padding.
  template <class E>
  using Elements = std::array<const E*, kPanelRows>;

  /// Does the row meet elements there, along the first dimensions?
  bool meets(const Row& row, const TermRun& run, size_t dimensions) const {
    bool all = true;
    for (size_t d = 0; d < dimensions; ++d) {
      all &= static_cast<uint64_t>(row.first[d] + run.reach[d]) < static_cast<uint64_t>(input_.extents[d]);
    }
    return all;
  }

  /// A run of the last dimension's taps, cut where a row enters or leaves the padding.
  template <class E, class S>
  RowRun<S>* add_taps(const Elements<E>& begin, int64_t per_tap, const Row* rows, const TermRun& run, S* copies,
                      RowRun<S>* to) const {
    const int64_t step = per_tap * input_.strides[kLast];
    std::array<int64_t, kPanelRows> enters{}, leaves{};  // taps of the run
    for (size_t r = 0; r < begin.size(); ++r) {
      const auto taps_below = [&](int64_t element) {
        const int64_t apart = element - rows[r].first[kLast] - run.reach[kLast];
        return std::clamp<int64_t>(per_tap == 1 ? apart : (std::max<int64_t>(apart, 0) + per_tap - 1) / per_tap, 0,
                                   run.count);
      };
      const bool any = meets(rows[r], run, kLast);
      enters[r] = any ? taps_below(0) : run.count;
      leaves[r] = any ? taps_below(input_.extents[kLast]) : run.count;
    }
    for (int64_t tap = 0, next; tap < run.count; tap = next) {
      next = run.count;
      Elements<E> at{};
      for (size_t r = 0; r < at.size(); ++r) {
        if (enters[r] > tap) next = std::min(next, enters[r]);
        if (leaves[r] > tap) next = std::min(next, leaves[r]);
        if (enters[r] <= tap && tap < leaves[r]) at[r] = begin[r] + tap * step;
      }
      set_run(at, step, next - tap, copies + tap * kPanelRows, *to++);
    }
    return to;
  }

  /// The rows themselves where all are elements of the type that is summed, and step alike; zeros do for padding.
  template <class E, class S>
  static void set_run(const Elements<E>& at, int64_t step, int64_t count, S* copies, RowRun<S>& run) {
    const bool padded = std::ranges::any_of(at, [](const E* element) { return element == nullptr; });
    run.step = step;
    run.depth = count;
    if constexpr (std::is_same_v<E, S>) {
      if (!padded || step == 1) {
        for (size_t r = 0; r < at.size(); ++r) run.rows[r] = at[r] != nullptr ? at[r] : zeros<S>();
        return;
      }
    }
    bool side_by_side = !padded;
    for (size_t r = 0; r < at.size() && side_by_side; ++r) side_by_side = at[r] == at[0] + r;
    if (side_by_side) {
      run.step = kPanelRows;
      for (size_t r = 0; r < at.size(); ++r) run.rows[r] = copies + r;
      for (int64_t k = 0; k < count; ++k) {
        for (int64_t r = 0; r < kPanelRows; ++r) copies[k * kPanelRows + r] = to_sum<S>(at[0][k * step + r]);
      }
      return;
    }
    run.step = 1;
    for (size_t r = 0; r < at.size(); ++r, copies += count) {
      run.rows[r] = at[r] != nullptr ? copies : zeros<S>();
      if (at[r] == nullptr) continue;
      if (step == 1) {
        to_sums(at[r], count, copies);
      } else {
        for (int64_t k = 0; k < count; ++k) copies[k] = to_sum<S>(at[r][k * step]);
      }
    }
  }

  template <class E, class S>
  static void to_sums(const E* from, int64_t count, S* to) {
    constexpr int64_t kFew = 16;  // what a call costs more than it brings
    if constexpr (std::is_same_v<E, S> || (std::is_same_v<E, BFloat16> && std::is_same_v<S, float>)) {
      if (count >= kFew) return convert_row(from, count, to);
    }
    for (int64_t k = 0; k < count; ++k) to[k] = to_sum<S>(from[k]);
  }

  /// Panels of the kernel's columns, terms in the order of rows; what lies behind the last column is left as it was.
  template <class K, class S>
  void pack_kernel(const K* kernel, const Tile& tile, std::span<const TermRun> terms, int64_t depth, S* to) const {
    const Phase& phase = tile.of->phase;
    const int64_t across = kernel_.feature_stride;
    for (int64_t panel = 0; panel < tile.columns; panel += panel_columns_, to += panel_columns_ * depth) {
      const int64_t filled = std::min(panel_columns_, tile.columns - panel);
      const K* origin = kernel + (tile.group * outputs_ + tile.column + panel) * across;
      for (const TermRun& run : terms) {
        const K* at = origin + run.feature * kernel_.batch_stride;
        int64_t along = kernel_.batch_stride;
        for (size_t w = 0, d = kMostSpatial - window_.size.size(); d < kMostSpatial; ++w, ++d) {
          const PhaseAxis& axis = phase.axes[d];
          const int64_t tap = axis.first_tap + run.tap[d] * axis.tap_step;
          at += (window_.rhs_reversal[w] ? window_.size[w] - 1 - tap : tap) * kernel_.strides[d];
          if (taps_first_ && d == kLast) {
            along = axis.tap_step * kernel_.strides[d] * (window_.rhs_reversal[w] ? -1 : 1);
          }
        }
        pack_columns(at, along, run.count, across, filled, to + run.done * panel_columns_);
      }
    }
  }

  /// to[k * panel columns + j] = at[k * along + j * across]
  template <class K, class S>
  void pack_columns(const K* at, int64_t along, int64_t count, int64_t across, int64_t filled, S* to) const {
    for (int64_t k = 0; k < count; ++k, at += along, to += panel_columns_) {
      if (across == 1) {
        to_sums(at, filled, to);
      } else {
        for (int64_t j = 0; j < filled; ++j) to[j] = to_sum<S>(at[j * across]);
      }
    }
  }

  Window window_;
  ElementType input_type_{}, kernel_type_{}, result_type_{};
  Roles input_, output_;
  Roles kernel_;                                                 ///< its "batch" are the input features
  int64_t batch_ = 0, groups_ = 1, features_ = 0, outputs_ = 0;  ///< features and outputs of one group
  bool by_batch_ = false;
  bool batch_first_ = false, taps_first_ = false;  ///< rows by batch, then position; terms by tap, then feature
  std::vector<TiledPhase> phases_;
  int64_t tiles_ = 0;  ///< of one group
  int64_t panel_columns_ = 0, tile_columns_ = 0, across_ = 1;
  int64_t kernel_bytes_ = 0, copies_bytes_ = 0, runs_bytes_ = 0, terms_bytes_ = 0, rows_bytes_ = 0;  ///< of a lane's
  Lanes lanes_;
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_convolution(const Instruction& convolution) {
  const auto& attributes = convolution.as<ConvolutionAttributes>();
  if (convolution.operands.size() != 2 || attributes.dim_labels.find('?') != std::string::npos) return nullptr;
  if (attributes.input_spatial.size() > kMostSpatial) return nullptr;
  if (!PanelGemm::supports(convolution.operand(0).shape.type, convolution.operand(1).shape.type,
                           convolution.shape.type)) {
    return nullptr;
  }
  auto routine = std::make_unique<Convolution>(convolution);
  if (!routine->is_worth_it()) return nullptr;
  return routine;
}

}  // namespace lowtide::engine
