/// convolution as products of panels: a row of the left ones is a position of the window, laid out as it is packed, so
/// that nothing is unrolled in memory. Every labelling, dilation, reversal and grouping.
#include <array>

#include "library/convert.h"
#include "library/gemm.h"
#include "library/routines.h"
#include "ops/index_space.h"
#include "ops/window.h"

namespace lowtide::engine {
namespace {

/// Groups with fewer outputs, or sums of fewer products, would fill panels with zeros.
constexpr int64_t kFewOutputs = 8, kFewTerms = 8;
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

  bool is_worth_it() const { return outputs_ >= kFewOutputs && taps_ * features_ >= kFewTerms; }
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

  template <class E, class S>
  void pack_input(const E* input, int64_t group, int64_t row, int64_t rows, int64_t from, int64_t depth, S* to) const {
    for (int64_t panel = 0; panel < rows; panel += kPanelRows, to += kPanelRows * depth) {
      for (int64_t i = 0; i < kPanelRows; ++i) {
        S* lane = to + i;
        const auto fill = [&](int64_t run, int64_t done) {
          for (int64_t k = 0; k < run; ++k) lane[(done + k) * kPanelRows] = S{};
        };
        if (panel + i >= rows) {
          fill(depth, 0);
          continue;
        }
        const int64_t batch = (row + panel + i) / positions_;
        const Position position = digits((row + panel + i) % positions_, output_.extents);
        const E* origin = input + (by_batch_ ? group * batch_ + batch : batch) * input_.batch_stride +
                          (by_batch_ ? 0 : group * features_) * input_.feature_stride;
        for_each_run(from, depth, [&](const Position& tap, int64_t feature, int64_t run, int64_t done) {
          const E* at = origin + feature * input_.feature_stride;
          for (size_t d = 0; d < spatial_; ++d) {
            const auto index = base_index(window_, d, position[d], tap[d], input_.extents[d]);
            if (!index) return fill(run, done);
            at += *index * input_.strides[d];
          }
          const int64_t stride = input_.feature_stride;
          for (int64_t k = 0; k < run; ++k) lane[(done + k) * kPanelRows] = to_sum<S>(at[k * stride]);
        });
      }
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
        for (int64_t k = 0; k < run; ++k, at += kernel_.batch_stride) {
          S* row = to + (done + k) * kWidth;
          for (int64_t j = 0; j < filled; ++j) row[j] = to_sum<S>(at[j * kernel_.feature_stride]);
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
