#include "passes/xla/order_convolutions.h"

#include <algorithm>
#include <numeric>

#include "ir/dimension_order.h"
#include "ops/convolution_labels.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostSpatial = 3;  ///< dimensions that XLA:CPU's library walks

bool library_takes(const Instruction& i) {
  const auto& a = i.as<ConvolutionAttributes>();
  const auto spatial = std::ssize(a.input_spatial);
  return is_floating(i.shape.type) && a.dim_labels.find('?') == std::string::npos && spatial >= 1 &&
         spatial <= kMostSpatial && a.feature_group_count == 1 && a.batch_group_count == 1 &&
         std::ranges::find(a.window.rhs_reversal, true) == a.window.rhs_reversal.end();
}

/// first, spatial dimensions, last: the permutation that brings a value's dimensions into this order.
Dims order_of(int64_t first, const Dims& spatial, int64_t last) {
  Dims order{first};
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.push_back(last);
  return order;
}

Instruction* ordered(Instruction& convolution, Maker& maker) {
  const auto& a = convolution.as<ConvolutionAttributes>();
  const Dims input = order_of(a.input_batch, a.input_spatial, a.input_feature);
  const Dims output = order_of(a.output_batch, a.output_spatial, a.output_feature);
  Dims kernel = a.kernel_spatial;
  kernel.insert(kernel.end(), {a.kernel_input_feature, a.kernel_output_feature});
  const auto rank = std::ssize(input);
  ConvolutionAttributes now = a;
  now.input_batch = now.output_batch = 0;
  now.input_feature = now.output_feature = now.kernel_output_feature = rank - 1;
  now.kernel_input_feature = rank - 2;
  std::iota(now.input_spatial.begin(), now.input_spatial.end(), 1);
  now.output_spatial = now.input_spatial;
  std::iota(now.kernel_spatial.begin(), now.kernel_spatial.end(), 0);
  now.dim_labels = dim_labels_of(now);
  if (now.dim_labels == dim_labels_of(a)) return nullptr;

  const Shape shape = Shape::array(convolution.shape.type, entries_at(output, convolution.shape.dims));
  Instruction* made =
      maker.like(convolution, shape,
                 {maker.transpose(convolution.operands[0], input), maker.transpose(convolution.operands[1], kernel)});
  made->attributes = now;
  return maker.transpose(made, inverse_of(output));
}

}  // namespace

Result<PassResult> order_convolutions(Module& module) {
  return rewrite_each(
      module, {Opcode::kConvolution},
      [&](Instruction& i, Maker& maker) -> Instruction* {
        if (&maker.computation() == module.entry || !is_plain_array(i) || !library_takes(i)) return nullptr;
        return ordered(i, maker);
      },
      "convolutions of loops put into XLA:CPU's order");
}

}  // namespace lowtide::engine
