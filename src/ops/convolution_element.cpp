#include <algorithm>

#include "ops/element_rules.h"
#include "ops/products.h"
#include "ops/window_taps.h"

namespace lowtide::engine {

bool has_element_convolution(const Instruction& convolution) {
  return convolution.as<ConvolutionAttributes>().dim_labels.find('?') == std::string::npos;
}

void element_convolution(ElementContext& context, const Instruction& convolution, const Index& index,
                         std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const auto& attributes = convolution.as<ConvolutionAttributes>();
  const Window& window = attributes.window;
  const Dims& base = convolution.operand(0).shape.dims;
  const Dims& kernel = convolution.operand(1).shape.dims;
  const auto at = [](auto& list, int64_t d) -> auto& { return list[d]; };
  ProductSum sum(context, convolution.shape.type);
  if (element_count(convolution.operand(0).shape) == 0) {
    leaves[0] = sum.close();
    return;
  }
  Index input(base.size()), weight(kernel.size());
  // Output features form groups; each group reads its own input features, or its own part of the batch.
  const int64_t groups = std::max(attributes.feature_group_count, attributes.batch_group_count);
  const int64_t outputs = at(convolution.shape.dims, attributes.output_feature);
  const int64_t batch = at(convolution.shape.dims, attributes.output_batch);
  const int64_t depth = at(kernel, attributes.kernel_input_feature);
  const Affine& output = at(index, attributes.output_feature);
  const Affine group = groups == 1 ? NestBuilder::fixed(0) : nest.floor_divide(output, outputs / groups);
  const bool by_batch = attributes.batch_group_count > 1;
  at(weight, attributes.kernel_output_feature) = output;
  at(input, attributes.input_batch) = at(index, attributes.output_batch);
  if (by_batch) {
    at(input, attributes.input_batch) = nest.plus(nest.times(group, batch), at(index, attributes.output_batch));
  }
  NodeId inside = kNoId;
  for (size_t d = 0; d < window.size.size(); ++d) {
    const Affine k = window.size[d] == 1 ? NestBuilder::fixed(0) : sum.open(window.size[d]);
    const WindowTap tap =
        window_tap(nest, window, d, at(index, attributes.output_spatial[d]), k, at(base, attributes.input_spatial[d]));
    inside = both(nest, inside, tap.inside);
    at(input, attributes.input_spatial[d]) = tap.at;
    at(weight, attributes.kernel_spatial[d]) =
        window.rhs_reversal[d] ? nest.plus(nest.times(k, -1), NestBuilder::fixed(window.size[d] - 1)) : k;
  }
  const Affine feature = sum.open(depth);
  at(weight, attributes.kernel_input_feature) = feature;
  at(input, attributes.input_feature) = by_batch ? feature : nest.plus(nest.times(group, depth), feature);
  const NodeId a = context.element(convolution.operand(0), input);
  sum.add(a, context.element(convolution.operand(1), weight), inside);
  leaves[0] = sum.close();
}

}  // namespace lowtide::engine
