/// convolution as products of rows by panels: a row is a position of the window, whose elements are read in place, so
/// that nothing is unrolled in memory. Supports every labelling, dilation, reversal and grouping.
#include <algorithm>
#include <array>
#include <utility>

#include "library/convert.h"
#include "library/convert_row.h"
#include "library/convolution_walk.h"
#include "library/few_columns.h"
#include "library/gemm.h"
#include "library/lanes.h"
#include "library/panel_kernel.h"
#include "library/routines.h"

namespace lowtide::engine {
namespace {

using Tile = ConvolutionWalk::Tile;
using Row = ConvolutionWalk::Row;
using TermRun = ConvolutionWalk::TermRun;

/// The input of a convolution that sums elements of type S. Its own elements may have another type.
template <class S>
struct Input {
  const std::byte* elements = nullptr;
  int64_t bytes = 0;             ///< of an element
  bool has_summed_type = false;  ///< can be read in place
  /// Convert neighbouring elements; elements that are `step` apart; and for each of these a panel's rows, side by side.
  void (*copy_row)(const std::byte* from, int64_t count, S* to) = nullptr;
  void (*copy_strided)(const std::byte* from, int64_t step, int64_t count, S* to) = nullptr;
  void (*copy_rows)(const std::byte* from, int64_t step, int64_t count, S* to) = nullptr;

  const std::byte* at(int64_t element) const { return elements + element * bytes; }
};

template <class E, class S>
void to_sums(const E* from, int64_t count, S* to) {
  constexpr int64_t kFew = 16;  // from here on a call pays off
  if constexpr (std::is_same_v<E, S> || (std::is_same_v<E, BFloat16> && std::is_same_v<S, float>)) {
    if (count >= kFew) return convert_row(from, count, to);
  }
  for (int64_t k = 0; k < count; ++k) to[k] = to_sum<S>(from[k]);
}

template <class E, class S>
Input<S> elements_of(const void* elements) {
  const auto copy_row = [](const std::byte* from, int64_t count, S* to) {
    to_sums(reinterpret_cast<const E*>(from), count, to);
  };
  const auto copy_strided = [](const std::byte* from, int64_t step, int64_t count, S* to) {
    for (int64_t k = 0; k < count; ++k) to[k] = to_sum<S>(reinterpret_cast<const E*>(from)[k * step]);
  };
  const auto copy_rows = [](const std::byte* from, int64_t step, int64_t count, S* to) {
    const auto* at = reinterpret_cast<const E*>(from);
    for (int64_t k = 0; k < count; ++k, at += step) {
      for (int64_t r = 0; r < kPanelRows; ++r) to[k * kPanelRows + r] = to_sum<S>(at[r]);
    }
  };
  return {static_cast<const std::byte*>(elements), sizeof(E), std::is_same_v<E, S>, copy_row, copy_strided, copy_rows};
}

/// Zeros that rows read instead of padding.
template <class S>
const S* zeros() {
  static constexpr std::array<S, kConvolutionDepth> kZeros{};
  return kZeros.data();
}

class Convolution : public LibraryRoutine {
 public:
  explicit Convolution(const Instruction& convolution)
      : walk_(convolution, sum_bytes(convolution.shape.type)),
        lanes_(walk_.tiles(), walk_.room().all()),
        input_type_(convolution.operand(0).shape.type),
        kernel_type_(convolution.operand(1).shape.type),
        result_type_(convolution.shape.type) {}

  bool is_worth_it() const { return walk_.is_worth_it(); }
  int64_t scratch_bytes() const override { return lanes_.scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    dispatch(result_type_, [&]<class T>() {
      const auto input = input_of<summed_t<T>>(operands[0]);
      lanes_.run(pool, scratch, [&](int64_t task, std::byte* room) {
        compute_tile(walk_.tile_at(task), input, operands[1], results[0], room);
      });
    });
    return {};
  }

 private:
  static int64_t sum_bytes(ElementType type) {
    return dispatch(type, []<class T>() { return static_cast<int64_t>(sizeof(summed_t<T>)); });
  }

  // The types of the input, the kernel and the result are each dispatched on in functions of their own: instantiating
  // all combinations of types would take megabytes of code.
  template <class S>
  Input<S> input_of(const void* elements) const {
    Input<S> input;
    dispatch(input_type_, [&]<class E>() {
      if constexpr (sums_in<E, S>) input = elements_of<E, S>(elements);
    });
    return input;
  }

  template <class S>
  [[gnu::noinline]] void compute_tile(const Tile& tile, const Input<S>& input, const void* kernel, void* result,
                                      std::byte* room) const {
    const auto take = [&]<class Item>(int64_t bytes) {
      return reinterpret_cast<Item*>(std::exchange(room, room + bytes));
    };
    S* const packed = take.template operator()<S>(walk_.room().kernel);
    S* const copies = take.template operator()<S>(walk_.room().copies);
    auto* const terms = take.template operator()<TermRun>(walk_.room().terms);
    auto* const runs = take.template operator()<RowRun<S>>(walk_.room().runs);
    auto* const rows = take.template operator()<Row>(walk_.room().rows);
    S* const sums = reinterpret_cast<S*>(room);
    const int64_t width = walk_.tile_columns(), panel = walk_.panel_columns();
    const bool in_place = dispatch(result_type_, []<class T>() { return std::is_same_v<T, S>; });
    const bool by_lines = walk_.copies_lines(*tile.of) && tile.columns > kFewColumns;
    const Results to = results_of(tile, rows);
    if (!by_lines || to.step == 0) walk_.find_rows(tile, rows);
    if (tile.of->depth == 0) std::fill(sums, sums + tile.rows * width, S{});
    for (int64_t from = 0; from < tile.of->depth; from += kConvolutionDepth) {
      const int64_t depth = std::min(kConvolutionDepth, tile.of->depth - from);
      const Joining joining = from == 0 ? Joining::kAlone : Joining::kAsPart;
      const std::span<const TermRun> walked(terms, walk_.find_terms(tile.of->phase, from, depth, terms));
      const std::span<const TermRun> joined(terms + depth, walk_.join_runs(tile.of->phase, walked, terms + depth));
      const bool by_terms = !by_lines && lanes_are_terms<S>(tile, joined);
      pack(kernel, tile, walked, depth, by_terms, packed);
      if (by_lines) {
        copy_lines(input, tile, walked, copies);
        multiply_copies(tile, copies, packed, to, in_place ? static_cast<S*>(result) : nullptr, sums, joining);
        continue;
      }
      for (int64_t i = 0; i < tile.rows; i += kPanelRows) {
        const std::span<const RowRun<S>> found(
            runs, find_elements(input, tile.of->phase, rows + i, walked, joined, copies, runs));
        PanelSums<S> part{sums + i * width, width, tile.columns};
        if (in_place && stores_whole_panels(tile, to, i)) {
          part = {static_cast<S*>(result) + to.at(i), to.at(i + 1) - to.at(i), tile.columns};
        }
        if constexpr (std::is_floating_point_v<S>) {
          if (by_terms) {
            multiply_few_columns<S>(found, packed, depth, part, joining);
            continue;
          }
        }
        for (int64_t j = 0; j < tile.columns; j += panel, part.at += panel, part.columns -= panel) {
          multiply_rows<S>(found, packed + j * depth, part, joining);
        }
      }
    }
    store(tile, to, sums, in_place, result);
  }

  /// Where a tile's results lie: row i's first column at `first` + i * `step`, or if that is 0, as row i says.
  struct Results {
    int64_t first = 0, step = 0;
    const Row* rows = nullptr;
    int64_t at(int64_t i) const { return step != 0 ? first + i * step : rows[i].result; }
  };
  Results results_of(const Tile& tile, const Row* rows) const {
    return {walk_.first_of(tile).result, walk_.result_step(*tile.of), rows};
  }

  template <class S>
  [[gnu::noinline]] void pack(const void* kernel, const Tile& tile, std::span<const TermRun> terms, int64_t depth,
                              bool by_columns, S* to) const {
    dispatch(kernel_type_, [&]<class K>() {
      if constexpr (sums_in<K, S>) {
        const auto* const elements = static_cast<const K*>(kernel);
        by_columns ? pack_by_columns(elements, tile, terms, depth, to) : pack_kernel(elements, tile, terms, depth, to);
      }
    });
  }

  /// Few columns would leave a panel mostly empty: vectors hold terms instead, if these are contiguous.
  template <class S>
  bool lanes_are_terms(const Tile& tile, std::span<const TermRun> joined) const {
    return std::is_floating_point_v<S> && tile.columns <= kFewColumns && !walk_.walks_taps_first() &&
           walk_.term_step(tile.of->phase) == 1 &&
           std::ranges::all_of(joined, [](const TermRun& run) { return run.count >= kShortestRun<S>; });
  }

  /// Are a panel's results laid out like sums: whole vectors, with a constant stride between rows? Then they are summed
  /// in place.
  bool stores_whole_panels(const Tile& tile, const Results& to, int64_t first) const {
    constexpr int64_t kVectors = 2;
    if (first + kPanelRows > tile.rows || walk_.output().feature_stride != 1 ||
        tile.columns % (walk_.panel_columns() / kVectors) != 0) {
      return false;
    }
    if (to.step != 0) return true;
    const int64_t step = to.at(first + 1) - to.at(first);
    for (int64_t i = first + 2; i < first + kPanelRows; ++i) {
      if (to.at(i) - to.at(i - 1) != step) return false;
    }
    return true;
  }

  /// in_place: whole panels have already been summed in the result.
  template <class S>
  [[gnu::noinline]] void store(const Tile& tile, const Results& to, const S* sums, bool in_place, void* result) const {
    dispatch(result_type_, [&]<class T>() {
      if constexpr (std::is_same_v<summed_t<T>, S>) {
        for (int64_t i = 0; i < tile.rows; ++i) {
          const int64_t begin = i / kPanelRows * kPanelRows;
          if (in_place && tile.of->depth > 0 && stores_whole_panels(tile, to, begin)) {
            i = begin + kPanelRows - 1;
          } else {
            store_row(tile, sums + i * walk_.tile_columns(), static_cast<T*>(result) + to.at(i));
          }
        }
      }
    });
  }

  template <class T, class S>
  void store_row(const Tile& tile, const S* sums, T* to) const {
    const int64_t stride = walk_.output().feature_stride;
    if constexpr (std::is_same_v<T, S> || std::is_same_v<T, BFloat16>) {
      if (stride == 1) return convert_row(sums, tile.columns, to);
    }
    for (int64_t j = 0; j < tile.columns; ++j) to[j * stride] = from_sum<T>(sums[j]);
  }

  /// The number of rows of copies, whole panels.
  static int64_t copied_rows_of(const Tile& tile) { return (tile.rows + kPanelRows - 1) / kPanelRows * kPanelRows; }

  /// Copies all terms of a tile's rows: term k of row i to copies[k * rows + i].
  template <class S>
  [[gnu::noinline]] void copy_lines(const Input<S>& input, const Tile& tile, std::span<const TermRun> terms,
                                    S* copies) const {
    const int64_t pitch = copied_rows_of(tile), step = walk_.term_step(tile.of->phase);
    const int64_t extent = walk_.input().extents[kLast];
    const int64_t apart = walk_.walks_taps_first() ? tile.of->phase.axes[kLast].per_tap : 0;
    walk_.visit_lines(tile, [&](const ConvolutionWalk::Line& line) {
      for (const TermRun& run : terms) {
        const bool meets = walk_.meets(line.first, run, kLast);
        for (int64_t k = 0; k < run.count; ++k) {
          S* const to = copies + (run.done + k) * pitch + line.row;
          const int64_t first = line.first.first[kLast] + run.reach[kLast] + k * apart;
          const int64_t begin = meets ? std::clamp<int64_t>(-first, 0, line.rows) : line.rows;
          const int64_t end = std::clamp(extent - first, begin, line.rows);
          std::fill(to, to + begin, S{});
          input.copy_row(input.at(line.first.input + run.input + k * step + begin), end - begin, to + begin);
          std::fill(to + end, to + line.rows, S{});
        }
      }
    });
    for (int64_t k = 0; k < tile.of->depth; ++k)
      std::fill(copies + k * pitch + tile.rows, copies + (k + 1) * pitch, S{});
  }

  /// Multiplies all copied rows of a tile: whole panels into `stored`, where store() expects them there; null: none.
  template <class S>
  void multiply_copies(const Tile& tile, const S* copies, const S* packed, const Results& to, S* stored, S* sums,
                       Joining joining) const {
    const int64_t pitch = copied_rows_of(tile), panels = pitch / kPanelRows, depth = tile.of->depth;
    for (int64_t p = 0, count = 0; p < panels; p += count) {
      const int64_t row = p * kPanelRows, width = walk_.tile_columns();
      PanelSums<S> part{sums + row * width, width, tile.columns};
      count = to.step == 0 ? 1 : panels - p;
      if (stored != nullptr && stores_whole_panels(tile, to, row)) {
        part = {stored + to.at(row), to.at(row + 1) - to.at(row), tile.columns};
        if (to.step != 0) count = tile.rows / kPanelRows;
      }
      for (int64_t j = 0; j < tile.columns; j += walk_.panel_columns()) {
        multiply_lines<S>(copies + row, pitch, count, packed + j * depth, depth,
                          {part.at + j, part.stride, tile.columns - j}, joining);
      }
    }
  }

  /// Finds where these terms of a panel's rows lie; terms with an unsuitable layout are copied.
  template <class S>
  size_t find_elements(const Input<S>& input, const Phase& phase, const Row* rows, std::span<const TermRun> terms,
                       std::span<const TermRun> joined, S* copies, RowRun<S>* runs) const {
    const bool padded = std::any_of(rows, rows + kPanelRows, [](const Row& row) { return row.meets_padding; });
    const int64_t step = walk_.term_step(phase);
    if (!walk_.walks_taps_first() && step == 1) return find_near(input, rows, terms, joined, copies, runs);
    RowRun<S>* to = runs;
    for (const TermRun& run : padded ? terms : joined) {
      S* const copy = copies + run.done * kPanelRows;
      Elements at;
      for (size_t r = 0; r < at.size(); ++r) at[r] = input.at(rows[r].input + run.input);
      if (!padded) {
        set_run(input, at, step, run.count, copy, *to++);
      } else if (walk_.walks_taps_first()) {
        to = add_taps(input, at, phase.axes[kLast].per_tap, rows, run, copy, to);
      } else {
        for (size_t r = 0; r < at.size(); ++r) {
          if (!walk_.meets(rows[r], run, kMostSpatial)) at[r] = nullptr;
        }
        set_run(input, at, step, run.count, copy, *to++);
      }
    }
    return static_cast<size_t>(to - runs);
  }

  /// For contiguous features: copies rows that meet padding, or need widening, with their terms in order.
  template <class S>
  size_t find_near(const Input<S>& input, const Row* rows, std::span<const TermRun> terms,
                   std::span<const TermRun> joined, S* copies, RowRun<S>* runs) const {
    const int64_t depth = terms.back().done + terms.back().count;
    std::array<const S*, kPanelRows> copied{};
    for (size_t r = 0; r < copied.size(); ++r) {
      const Row& row = rows[r];
      if (input.has_summed_type && !row.meets_padding) continue;
      S* const to = copies + static_cast<int64_t>(r) * depth;
      copied[r] = to;
      for (const TermRun& run : row.meets_padding ? terms : joined) {
        if (!row.meets_padding || walk_.meets(row, run, kMostSpatial)) {
          input.copy_row(input.at(row.input + run.input), run.count, to + run.done);
        } else {
          std::fill_n(to + run.done, run.count, S{});
        }
      }
    }
    if (std::ranges::all_of(copied, [](const S* row) { return row != nullptr; })) {
      runs[0] = {copied, 1, depth};
      return 1;
    }
    const auto in_place = [&](int64_t element) { return reinterpret_cast<const S*>(input.at(element)); };
    size_t count = 0;
    for (const TermRun& run : joined) {
      RowRun<S>& to = runs[count++];
      to.step = 1;
      to.depth = run.count;
      for (size_t r = 0; r < copied.size(); ++r) {
        to.rows[r] = copied[r] != nullptr ? copied[r] + run.done : in_place(rows[r].input + run.input);
      }
    }
    return count;
  }

  /// Elements of a panel's six rows; null for padding.
  using Elements = std::array<const std::byte*, kPanelRows>;

  /// A run of the last dimension's taps, cut where a row enters or leaves the padding.
  template <class S>
  RowRun<S>* add_taps(const Input<S>& input, const Elements& begin, int64_t per_tap, const Row* rows,
                      const TermRun& run, S* copies, RowRun<S>* to) const {
    const int64_t step = per_tap * walk_.input().strides[kLast];
    std::array<int64_t, kPanelRows> enters{}, leaves{};  // taps of the run
    for (size_t r = 0; r < begin.size(); ++r) {
      const auto taps_below = [&](int64_t element) {
        const int64_t apart = element - rows[r].first[kLast] - run.reach[kLast];
        return std::clamp<int64_t>(per_tap == 1 ? apart : (std::max<int64_t>(apart, 0) + per_tap - 1) / per_tap, 0,
                                   run.count);
      };
      const bool any = walk_.meets(rows[r], run, kLast);
      enters[r] = any ? taps_below(0) : run.count;
      leaves[r] = any ? taps_below(walk_.input().extents[kLast]) : run.count;
    }
    for (int64_t tap = 0, next; tap < run.count; tap = next) {
      next = run.count;
      Elements at{};
      for (size_t r = 0; r < at.size(); ++r) {
        if (enters[r] > tap) next = std::min(next, enters[r]);
        if (leaves[r] > tap) next = std::min(next, leaves[r]);
        if (enters[r] <= tap && tap < leaves[r]) at[r] = begin[r] + tap * step * input.bytes;
      }
      set_run(input, at, step, next - tap, copies + tap * kPanelRows, *to++);
    }
    return to;
  }

  /// Reads rows in place if they have the type that is summed, and step 1 if any is padding, which reads zeros;
  /// otherwise copies them.
  template <class S>
  static void set_run(const Input<S>& input, const Elements& at, int64_t step, int64_t count, S* copies,
                      RowRun<S>& run) {
    const bool padded = std::ranges::any_of(at, [](const std::byte* element) { return element == nullptr; });
    run.step = step;
    run.depth = count;
    if (input.has_summed_type && (!padded || step == 1)) {
      for (size_t r = 0; r < at.size(); ++r)
        run.rows[r] = at[r] != nullptr ? reinterpret_cast<const S*>(at[r]) : zeros<S>();
      return;
    }
    bool side_by_side = !padded;
    for (size_t r = 0; r < at.size() && side_by_side; ++r)
      side_by_side = at[r] == at[0] + static_cast<int64_t>(r) * input.bytes;
    if (side_by_side) {
      run.step = kPanelRows;
      for (size_t r = 0; r < run.rows.size(); ++r) run.rows[r] = copies + r;
      return input.copy_rows(at[0], step, count, copies);
    }
    run.step = 1;
    for (size_t r = 0; r < at.size(); ++r, copies += count) {
      run.rows[r] = at[r] != nullptr ? copies : zeros<S>();
      if (at[r] == nullptr) continue;
      step == 1 ? input.copy_row(at[r], count, copies) : input.copy_strided(at[r], step, count, copies);
    }
  }

  /// Packs the kernel's columns in panels, terms in the order of rows; what follows the last column isn't written.
  template <class K, class S>
  void pack_kernel(const K* kernel, const Tile& tile, std::span<const TermRun> terms, int64_t depth, S* to) const {
    const int64_t across = walk_.kernel().feature_stride, width = walk_.panel_columns();
    for (int64_t panel = 0; panel < tile.columns; panel += width, to += width * depth) {
      const int64_t filled = std::min(width, tile.columns - panel);
      for (const TermRun& run : terms) {
        const auto [at, along] = walk_.kernel_run(tile, run);
        pack_columns(kernel + at + panel * across, along, run.count, across, filled, to + run.done * width);
      }
    }
  }

  /// Packs the kernel's columns one after another, terms in the order of rows.
  template <class K, class S>
  void pack_by_columns(const K* kernel, const Tile& tile, std::span<const TermRun> terms, int64_t depth, S* to) const {
    for (const TermRun& run : terms) {
      const auto [at, along] = walk_.kernel_run(tile, run);
      for (int64_t j = 0; j < tile.columns; ++j) {
        const K* from = kernel + at + j * walk_.kernel().feature_stride;
        for (int64_t k = 0; k < run.count; ++k) to[j * depth + run.done + k] = to_sum<S>(from[k * along]);
      }
    }
  }

  /// to[k * panel columns + j] = at[k * along + j * across]
  template <class K, class S>
  void pack_columns(const K* at, int64_t along, int64_t count, int64_t across, int64_t filled, S* to) const {
    for (int64_t k = 0; k < count; ++k, at += along, to += walk_.panel_columns()) {
      if (across == 1) {
        to_sums(at, filled, to);
      } else {
        for (int64_t j = 0; j < filled; ++j) to[j] = to_sum<S>(at[j * across]);
      }
    }
  }

  ConvolutionWalk walk_;
  Lanes lanes_;
  ElementType input_type_, kernel_type_, result_type_;
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
