#include <algorithm>

#include "ops/contract.h"
#include "ops/convolution.h"
#include "ops/index_space.h"
#include "ops/window.h"

namespace lowtide::engine {
namespace {

Dims with(Dims dims, int64_t a, int64_t b) {
  dims.insert(dims.end(), {a, b});
  return dims;
}

/// A tap that falls on an element: its offsets in the kernel and in the input, row-major over spatial dimensions.
/// taps_at() gives those of one window position.
struct Tap {
  int64_t kernel = 0, input = 0;
};
std::vector<Tap> taps_at(const Window& window, const Dims& position, const Dims& input) {
  std::vector<Tap> taps{{}};
  for (size_t d = 0; d < input.size(); ++d) {
    std::vector<Tap> next;
    const TapRange range = taps_on_base(window, d, position[d], input[d]);
    for (const Tap& tap : taps) {
      for (int64_t k = range.first; k < range.last; ++k) {
        const auto at = base_index(window, d, position[d], k, input[d]);
        if (!at) continue;
        const int64_t weight = window.rhs_reversal[d] ? window.size[d] - 1 - k : k;
        next.push_back({tap.kernel * window.size[d] + weight, tap.input * input[d] + *at});
      }
    }
    taps = std::move(next);
  }
  return taps;
}

}  // namespace

Result<Value> eval_convolution(const Instruction& convolution, Operands operands, EvalContext&) {
  const auto& attributes = convolution.as<ConvolutionAttributes>();
  if (attributes.dim_labels.find('?') != std::string::npos) {
    return Status::unsupported("convolution " + convolution.name + ": dimensions without a role can't be run");
  }
  LT_ASSIGN_OR_RETURN(const Value lhs, convert_elements(operands[0], convolution.shape.type));
  LT_ASSIGN_OR_RETURN(const Value rhs, convert_elements(operands[1], convolution.shape.type));
  auto result = std::make_shared<Literal>(convolution.shape);
  if (result->size() == 0) return Value(result);

  // input [spatial, batch, features], kernel [taps, features of a group, outputs], result [positions, batch, outputs]
  const auto in_order = [](const Shape& shape, const Dims& order) {
    return offsets_of(pick(shape.dims, order), pick(row_major_strides(shape.dims), order));
  };
  const Dims input_spatial = pick(lhs->shape().dims, attributes.input_spatial);
  const Dims positions = pick(result->shape().dims, attributes.output_spatial);
  const auto extent = [](const Shape& shape, int64_t d) { return shape.dims[d]; };
  const int64_t input_batch = extent(lhs->shape(), attributes.input_batch);
  const int64_t features = extent(lhs->shape(), attributes.input_feature);
  const int64_t depth = extent(rhs->shape(), attributes.kernel_input_feature);
  const int64_t outputs = extent(result->shape(), attributes.output_feature);
  const int64_t batch = extent(result->shape(), attributes.output_batch);
  // Output features form groups; each group reads its own input features, or its own part of the batch.
  const int64_t groups = std::max(attributes.feature_group_count, attributes.batch_group_count);
  const bool by_batch = attributes.batch_group_count > 1;
  const int64_t group_outputs = outputs / groups;
  const Dims places =
      in_order(result->shape(), with(attributes.output_spatial, attributes.output_batch, attributes.output_feature));
  dispatch_sums(convolution.shape.type, [&]<class T, class S>() {
    const auto input = panel<S>(
        *lhs, in_order(lhs->shape(), with(attributes.input_spatial, attributes.input_batch, attributes.input_feature)));
    const auto kernel =
        panel<S>(*rhs, in_order(rhs->shape(), with(attributes.kernel_spatial, attributes.kernel_input_feature,
                                                   attributes.kernel_output_feature)));
    const auto out = result->data<T>();
    Dims position(positions.size(), 0);
    int64_t to = 0;
    do {
      const std::vector<Tap> taps = taps_at(attributes.window, position, input_spatial);
      for (int64_t b = 0; b < batch; ++b) {
        for (int64_t group = 0; group < groups; ++group) {
          const int64_t from_batch = by_batch ? group * batch + b : b;
          const int64_t from_feature = by_batch ? 0 : group * depth;
          for (int64_t o = 0; o < group_outputs; o += kSumsAtOnce) {
            const int64_t width = std::min(kSumsAtOnce, group_outputs - o);
            S sums[kSumsAtOnce] = {};
            for (const Tap& tap : taps) {
              accumulate(sums, input.get() + (tap.input * input_batch + from_batch) * features + from_feature,
                         kernel.get() + tap.kernel * depth * outputs + group * group_outputs + o, depth, outputs,
                         width);
            }
            for (int64_t j = 0; j < width; ++j) {
              out[places[to++]] = rounded<T>(sums[j]);
            }
          }
        }
      }
    } while (advance(position, positions));
  });
  return Value(result);
}

}  // namespace lowtide::engine
