// Convolutions.
#include <algorithm>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

array conv_general(array input, array weight, std::vector<int> stride, std::vector<int> padding_lo,
                   std::vector<int> padding_hi, std::vector<int> kernel_dilation, std::vector<int> input_dilation,
                   int groups, bool flip, StreamOrDevice s) {
  if (input.ndim() < 3 || weight.ndim() != input.ndim())
    fault("conv_general",
          "found the shapes {} and {}, expected (batch, spatial..., features) and (features, spatial..., features)",
          to_string(input.shape()), to_string(weight.shape()));
  const size_t spatial = input.ndim() - 2;
  const auto filled = [&](const std::vector<int>& given, int64_t usual) {
    if (given.size() > 1 && given.size() != spatial)
      fault("conv_general", "found {} numbers for {} spatial dimensions", given.size(), spatial);
    Dims dims(spatial, given.empty() ? usual : given[0]);
    for (size_t d = 0; d < given.size() && given.size() > 1; ++d) dims[d] = given[d];
    return dims;
  };
  ConvolutionDims dims{.stride = filled(stride, 1),
                       .low = filled(padding_lo, 0),
                       .high = filled(padding_hi, 0),
                       .kernel_dilation = filled(kernel_dilation, 1),
                       .input_dilation = filled(input_dilation, 1),
                       .groups = groups,
                       .batch_groups = 1,
                       .flip = flip,
                       .input = "b",
                       .kernel = "o",
                       .output = "b"};
  if (groups < 1 || input.shape(-1) != weight.shape(-1) * groups || weight.shape(0) % groups)
    fault("conv_general", "found {} groups for the shapes {} and {}", groups, to_string(input.shape()),
          to_string(weight.shape()));
  Shape shape = {input.shape(0)};
  for (size_t d = 0; d < spatial; ++d) {
    const char letter = static_cast<char>('0' + d);
    dims.input += letter;
    dims.kernel += letter;
    dims.output += letter;
    const int64_t in = (input.shape()[d + 1] - 1) * dims.input_dilation[d] + 1 + dims.low[d] + dims.high[d];
    const int64_t window = (weight.shape()[d + 1] - 1) * dims.kernel_dilation[d] + 1;
    if (dims.stride[d] < 1 || window > in)
      fault("conv_general", "found a window of {} in {} elements, with a stride of {}", window, in, dims.stride[d]);
    shape.push_back((in - window) / dims.stride[d] + 1);
  }
  dims.input += 'f';
  dims.kernel += 'i';
  dims.output += 'f';
  shape.push_back(weight.shape(0));
  const Dtype dtype = product_type("conv_general", input, weight);
  return convolution(as_type(input, dtype, s), as_type(weight, dtype, s), dims, shape, s);
}

namespace {
std::vector<int> list_of(const std::pair<int, int>& two) { return {two.first, two.second}; }
std::vector<int> list_of(const std::tuple<int, int, int>& three) {
  return {std::get<0>(three), std::get<1>(three), std::get<2>(three)};
}

/// A convolution with the flipped window over the input, dilated by stride - 1 zeros between its elements and padded
/// with zeros as far as the window reaches.
array transposed(std::string_view name, const array& input, const array& weight, const std::vector<int>& stride,
                 const std::vector<int>& padding, const std::vector<int>& dilation,
                 const std::vector<int>& output_padding, int groups, StreamOrDevice s) {
  if (weight.ndim() != stride.size() + 2)
    fault(name, "found a weight of shape {}, expected {} dimensions", to_string(weight.shape()), stride.size() + 2);
  std::vector<int> low, high;
  for (size_t d = 0; d < stride.size(); ++d) {
    low.push_back(dilation[d] * static_cast<int>(weight.shape()[d + 1] - 1) - padding[d]);
    high.push_back(low[d] + output_padding[d]);
  }
  return conv_general(input, weight, {}, low, high, dilation, stride, groups, true, s);
}
}  // namespace

array conv1d(const array& input, const array& weight, int stride, int padding, int dilation, int groups,
             StreamOrDevice s) {
  return conv_general(input, weight, {stride}, {padding}, {padding}, {dilation}, {}, groups, false, s);
}
array conv2d(const array& input, const array& weight, const std::pair<int, int>& stride,
             const std::pair<int, int>& padding, const std::pair<int, int>& dilation, int groups, StreamOrDevice s) {
  return conv_general(input, weight, list_of(stride), list_of(padding), list_of(padding), list_of(dilation), {}, groups,
                      false, s);
}
array conv3d(const array& input, const array& weight, const std::tuple<int, int, int>& stride,
             const std::tuple<int, int, int>& padding, const std::tuple<int, int, int>& dilation, int groups,
             StreamOrDevice s) {
  return conv_general(input, weight, list_of(stride), list_of(padding), list_of(padding), list_of(dilation), {}, groups,
                      false, s);
}
array conv_transpose1d(const array& input, const array& weight, int stride, int padding, int dilation,
                       int output_padding, int groups, StreamOrDevice s) {
  return transposed("conv_transpose1d", input, weight, {stride}, {padding}, {dilation}, {output_padding}, groups, s);
}
array conv_transpose2d(const array& input, const array& weight, const std::pair<int, int>& stride,
                       const std::pair<int, int>& padding, const std::pair<int, int>& dilation,
                       const std::pair<int, int>& output_padding, int groups, StreamOrDevice s) {
  return transposed("conv_transpose2d", input, weight, list_of(stride), list_of(padding), list_of(dilation),
                    list_of(output_padding), groups, s);
}
array conv_transpose3d(const array& input, const array& weight, const std::tuple<int, int, int>& stride,
                       const std::tuple<int, int, int>& padding, const std::tuple<int, int, int>& dilation,
                       const std::tuple<int, int, int>& output_padding, int groups, StreamOrDevice s) {
  return transposed("conv_transpose3d", input, weight, list_of(stride), list_of(padding), list_of(dilation),
                    list_of(output_padding), groups, s);
}

}  // namespace lowtide
