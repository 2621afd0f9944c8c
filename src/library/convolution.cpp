/// convolution as products of panels: a row of the left ones is a position of the window, laid out as it is packed, so
/// that nothing is unrolled in memory. Every labelling, dilation, reversal and grouping.
#include <array>

#include "library/convert.h"
#include "library/gemm.h"
#include "library/interleave.h"
#include "library/routines.h"
#include "ops/index_space.h"
#include "ops/window.h"

namespace lowtide::engine {
namespace {

/// Groups with fewer outputs, or sums of fewer products, would fill panels with zeros.
constexpr int64_t kFewOutputs = 8, kFewTerms = 8;
/// Where positions are many and far apart, as in NHWC, whatever takes one of them for each lane gathers.
constexpr int64_t kManyFeatures = 16, kManyPositions = 1024, kFewestOutputs = 2;
constexpr size_t kMostSpatial = 3;

/// Extents and strides of the roles of one array.
struct Roles {
  int64_t batch_stride = 0, feature_stride = 0;
  std::array<int64_t, kMostSpatial> extents{1, 1, 1}, strides{};

  Roles() = default;
  Roles(const Shape& shape, int64_t batch, int64_t feature, const Dims& spatial) {
    const Dims all = row_major_strides(shape.dims);
    batch_stride = all[static_cast<size_t>(batch)];
    feature_stride = all[static_cast<size_t>(feature)];
    for (size_t d = 0; d < spatial.size(); ++d) {
      extents[d] = shape.dims[static_cast<size_t>(spatial[d])];
      strides[d] = all[static_cast<size_t>(spatial[d])];
    }
  }
};

int64_t extent_of(const Shape& shape, int64_t d) { return shape.dims[static_cast<size_t>(d)]; }

class Convolution : public LibraryRoutine {
 public:
  explicit Convolution(const Instruction& convolution)
      : window_(convolution.as<ConvolutionAttributes>().window), spatial_(window_.size.size()) {
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
    for (size_t d = 0; d < spatial_; ++d) {
      taps_ *= window_.size[d];
      positions_ *= output_.extents[d];
    }
    dispatch(result_type_, [&]<class T>() {
      using S = summed_t<T>;
      tiles_ = PanelTiles::of<S>(batch_ * positions_, outputs_, taps_ * features_);
      lanes_ = Lanes(groups_ * tiles_.count(), tiles_.room_bytes<S>());
    });
  }

  bool is_worth_it() const {
    const bool gathers =
        input_.feature_stride == 1 && features_ >= kManyFeatures && batch_ * positions_ >= kManyPositions;
    return outputs_ >= (gathers ? kFewestOutputs : kFewOutputs) && taps_ * features_ >= kFewTerms;
  }
  int64_t scratch_bytes() const override { return lanes_.scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    dispatch(result_type_, [&]<class T>() { run_as<T, summed_t<T>>(operands, results[0], scratch, pool); });
    return {};
  }

 private:
  template <class T, class S>
  void run_as(std::span<const void* const> operands, void* result, void* scratch, ThreadPool& pool) const {
    lanes_.run(pool, scratch, [&](int64_t task, std::byte* room) {
      const int64_t group = task / tiles_.count();
      const auto pack_left = [&](int64_t row, int64_t rows, int64_t from, int64_t depth, S* to) {
        dispatch(input_type_, [&]<class E>() {
          if constexpr (sums_in<E, S>) {
            pack_input(static_cast<const E*>(operands[0]), group, row, rows, from, depth, to);
          }
        });
      };
      const auto pack_right = [&](int64_t column, int64_t columns, int64_t from, int64_t depth, S* to) {
        dispatch(kernel_type_, [&]<class E>() {
          if constexpr (sums_in<E, S>) {
            pack_kernel(static_cast<const E*>(operands[1]), group, column, columns, from, depth, to);
          }
        });
      };
      const auto store = [&](int64_t row, int64_t column, int64_t columns, const S* sums) {
        int64_t at = row / positions_ * output_.batch_stride + (group * outputs_ + column) * output_.feature_stride;
        const auto position = digits(row % positions_, output_.extents);
        for (size_t d = 0; d < spatial_; ++d) at += position[d] * output_.strides[d];
        T* to = static_cast<T*>(result) + at;
        for (int64_t j = 0; j < columns; ++j) to[j * output_.feature_stride] = from_sum<T>(sums[j]);
      };
      tiles_.multiply<S>(task % tiles_.count(), room, pack_left, pack_right, store);
    });
  }

  using Position = std::array<int64_t, kMostSpatial>;

  /// Row-major index over the spatial dimensions -> one index for each.
  Position digits(int64_t index, const Position& extents) const {
    Position position{};
    for (size_t d = spatial_; d-- > 0; index /= extents[d]) position[d] = index % extents[d];
    return position;
  }
  Position tap_at(int64_t index) const {
    Position extents{1, 1, 1};
    for (size_t d = 0; d < spatial_; ++d) extents[d] = window_.size[d];
    return digits(index, extents);
  }

  /// Calls f(tap, first feature, features, depth from the first) for each run of depths with one tap.
  template <class F>
  void for_each_run(int64_t from, int64_t depth, F&& f) const {
    for (int64_t done = 0; done < depth;) {
      const int64_t feature = (from + done) % features_, run = std::min(features_ - feature, depth - done);
      f(tap_at((from + done) / features_), feature, run, done);
      done += run;
    }
  }

  /// Where the window of one position lies: its first tap, along each dimension of the dilated base.
  struct Place {
    int64_t origin = 0;  ///< of the position's batch and group, in elements
    Position first{};
  };
  Place place_of(int64_t group, int64_t row) const {
    const int64_t batch = row / positions_;
    Place place;
    place.origin = (by_batch_ ? group * batch_ + batch : batch) * input_.batch_stride +
                   (by_batch_ ? 0 : group * features_) * input_.feature_stride;
    place.first = digits(row % positions_, output_.extents);
    for (size_t d = 0; d < spatial_; ++d) place.first[d] = place.first[d] * window_.stride[d] - window_.pad_low[d];
    return place;
  }
  /// Where a tap of it lies; nothing for a hole or for padding, as base_index says, whose division is rarely needed.
  std::optional<int64_t> element_at(const Place& place, const Position& tap) const {
    int64_t element = place.origin;
    for (size_t d = 0; d < spatial_; ++d) {
      int64_t at = place.first[d] + tap[d] * window_.rhs_dilate[d];
      if (at < 0) return std::nullopt;
      if (const int64_t dilate = window_.lhs_dilate[d]; dilate != 1) {
        if (at % dilate != 0) return std::nullopt;
        at /= dilate;
      }
      if (at >= input_.extents[d]) return std::nullopt;
      element += at * input_.strides[d];
    }
    return element;
  }

  template <class E, class S>
  void pack_input(const E* input, int64_t group, int64_t row, int64_t rows, int64_t from, int64_t depth, S* to) const {
    static constexpr E kZero{};
    for (int64_t panel = 0; panel < rows; panel += kPanelRows, to += kPanelRows * depth) {
      std::array<Place, kPanelRows> places;
      const int64_t filled = std::min(kPanelRows, rows - panel);
      for (int64_t i = 0; i < filled; ++i) places[static_cast<size_t>(i)] = place_of(group, row + panel + i);
      for_each_run(from, depth, [&](const Position& tap, int64_t feature, int64_t run, int64_t done) {
        // Holes, padding and rows behind the last read one zero again and again.
        std::array<const E*, kPanelRows> at;
        std::array<int64_t, kPanelRows> strides{};
        bool all_near = input_.feature_stride == 1;
        for (size_t i = 0; i < at.size(); ++i) {
          const auto element = i < static_cast<size_t>(filled) ? element_at(places[i], tap) : std::nullopt;
          at[i] = element ? input + *element + feature * input_.feature_stride : &kZero;
          strides[i] = element ? input_.feature_stride : 0;
          all_near = all_near && element;
        }
        S* lane = to + done * kPanelRows;
        interleave_rows(at, strides, all_near, run, lane);
      });
    }
  }

  /// Elements of as many rows side by side, in the order in which they are written.
  template <class E, class S>
  static void interleave_rows(const std::array<const E*, kPanelRows>& rows,
                              const std::array<int64_t, kPanelRows>& strides, bool near, int64_t run, S* to) {
    if constexpr (std::is_same_v<E, float> && std::is_same_v<S, float>) {
      if (near) return interleave(rows, run, to);
    }
    for (int64_t k = 0; k < run; ++k, to += kPanelRows) {
      for (size_t i = 0; i < rows.size(); ++i) to[i] = to_sum<S>(rows[i][k * strides[i]]);
    }
  }

  template <class E, class S>
  void pack_kernel(const E* kernel, int64_t group, int64_t column, int64_t columns, int64_t from, int64_t depth,
                   S* to) const {
    constexpr int64_t kWidth = kPanelColumns<S>;
    for (int64_t panel = 0; panel < columns; panel += kWidth, to += kWidth * depth) {
      const int64_t filled = std::min(kWidth, columns - panel);
      if (filled < kWidth) std::memset(static_cast<void*>(to), 0, sizeof(S) * static_cast<size_t>(kWidth * depth));
      const E* origin = kernel + (group * outputs_ + column + panel) * kernel_.feature_stride;
      for_each_run(from, depth, [&](const Position& tap, int64_t feature, int64_t run, int64_t done) {
        const E* at = origin + feature * kernel_.batch_stride;
        for (size_t d = 0; d < spatial_; ++d) {
          at += (window_.rhs_reversal[d] ? window_.size[d] - 1 - tap[d] : tap[d]) * kernel_.strides[d];
        }
        S* to_row = to + done * kWidth;
        if (kernel_.feature_stride == 1 && filled == kWidth) {
          for (int64_t k = 0; k < run; ++k, at += kernel_.batch_stride, to_row += kWidth) {
            if constexpr (std::is_same_v<E, S>) {
              std::memcpy(static_cast<void*>(to_row), at, sizeof(S) * kWidth);
            } else {
              for (int64_t j = 0; j < kWidth; ++j) to_row[j] = to_sum<S>(at[j]);
            }
          }
          return;
        }
        for (int64_t k = 0; k < run; ++k, at += kernel_.batch_stride, to_row += kWidth) {
          for (int64_t j = 0; j < filled; ++j) to_row[j] = to_sum<S>(at[j * kernel_.feature_stride]);
        }
      });
    }
  }

  Window window_;
  size_t spatial_;
  ElementType input_type_{}, kernel_type_{}, result_type_{};
  Roles input_, output_;
  Roles kernel_;                                                 ///< its "batch" are the input features
  int64_t batch_ = 0, groups_ = 1, features_ = 0, outputs_ = 0;  ///< features and outputs of one group
  int64_t taps_ = 1, positions_ = 1;
  bool by_batch_ = false;
  PanelTiles tiles_;
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
