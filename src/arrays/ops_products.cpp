// Sums of products.
#include <algorithm>
#include <map>
#include <set>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace {

Dtype product_type(std::string_view name, const array& a, const array& b) {
  const Dtype dtype = promote_types(a.dtype(), b.dtype());
  if (!issubdtype(dtype, inexact))
    fault(name, "found {} and {}, expected floats", dtype_to_string(a.dtype()), dtype_to_string(b.dtype()));
  return dtype;
}

Dims range(int64_t from, int64_t to) {
  Dims made;
  for (int64_t d = from; d < to; ++d) made.push_back(d);
  return made;
}

}  // namespace

array matmul(const array& a, const array& b, StreamOrDevice s) {
  if (a.ndim() == 0 || b.ndim() == 0)
    fault("matmul", "found the shapes {} and {}, expected no scalars", to_string(a.shape()), to_string(b.shape()));
  const Dtype dtype = product_type("matmul", a, b);
  array x = as_type(a, dtype, s), y = as_type(b, dtype, s);
  if (x.ndim() == 1) x = expand_dims(x, 0, s);
  if (y.ndim() == 1) y = expand_dims(y, 1, s);
  if (x.shape(-1) != y.shape(-2))
    fault("matmul", "found the shapes {} and {}, whose inner extents differ", to_string(a.shape()),
          to_string(b.shape()));
  const Shape x_batch(x.shape().begin(), x.shape().end() - 2), y_batch(y.shape().begin(), y.shape().end() - 2);
  const Shape batch = broadcast_shape("matmul", x_batch, y_batch);
  const auto batches = static_cast<int64_t>(batch.size());
  array product = x;
  if (y.ndim() == 2) {  // all rows of a by one matrix
    const auto rank = static_cast<int64_t>(x.ndim());
    product = dot(x, y, {.contract_a = {rank - 1}, .contract_b = {0}, .batch_a = {}, .batch_b = {}}, dtype, s);
  } else {
    const auto whole = [&](const array& m) {
      Shape shape = batch;
      shape.push_back(m.shape(-2));
      shape.push_back(m.shape(-1));
      return broadcast_as("matmul", m, shape, s);
    };
    product = dot(whole(x), whole(y),
                  {.contract_a = {batches + 1},
                   .contract_b = {batches},
                   .batch_a = range(0, batches),
                   .batch_b = range(0, batches)},
                  dtype, s);
  }
  Shape shape = product.shape();
  if (b.ndim() == 1) shape.pop_back();
  if (a.ndim() == 1) shape.erase(shape.end() - (b.ndim() == 1 ? 1 : 2));
  return reshape_to(product, shape, s);
}

array addmm(array c, array a, array b, const float& alpha, const float& beta, StreamOrDevice s) {
  const array product = matmul(a, b, s);
  const auto scaled = [&](const array& x, float by) { return by == 1.0F ? x : x * constant(by, x.dtype(), {}, s); };
  return scaled(product, alpha) + scaled(as_type(c, product.dtype(), s), beta);
}

array tensordot(const array& a, const array& b, const std::vector<int>& axes_a, const std::vector<int>& axes_b,
                StreamOrDevice s) {
  if (axes_a.size() != axes_b.size()) fault("tensordot", "found {} axes and {}", axes_a.size(), axes_b.size());
  (void)axes_of("tensordot", axes_a, a.ndim());
  (void)axes_of("tensordot", axes_b, b.ndim());
  DotDims dims;
  for (size_t k = 0; k < axes_a.size(); ++k) {
    dims.contract_a.push_back(axis_of("tensordot", axes_a[k], a.ndim()));
    dims.contract_b.push_back(axis_of("tensordot", axes_b[k], b.ndim()));
    if (a.shape(axes_a[k]) != b.shape(axes_b[k]))
      fault("tensordot", "found extents {} and {} of a pair of axes", a.shape(axes_a[k]), b.shape(axes_b[k]));
  }
  const Dtype dtype = product_type("tensordot", a, b);
  return dot(as_type(a, dtype, s), as_type(b, dtype, s), dims, dtype, s);
}
array tensordot(const array& a, const array& b, const int axis, StreamOrDevice s) {
  if (axis < 0 || axis > static_cast<int>(std::min(a.ndim(), b.ndim())))
    fault("tensordot", "found {} axes of arrays of {} and {} dimensions", axis, a.ndim(), b.ndim());
  std::vector<int> axes_a, axes_b;
  for (int k = 0; k < axis; ++k) {
    axes_a.push_back(k - axis);
    axes_b.push_back(k);
  }
  return tensordot(a, b, axes_a, axes_b, s);
}
array outer(const array& a, const array& b, StreamOrDevice s) {
  return multiply(reshape(a, {-1, 1}, s), reshape(b, {-1}, s), s);
}
array inner(const array& a, const array& b, StreamOrDevice s) {
  if (a.ndim() == 0 || b.ndim() == 0) return multiply(a, b, s);
  if (a.shape(-1) != b.shape(-1))
    fault("inner", "found the shapes {} and {}, whose last extents differ", to_string(a.shape()), to_string(b.shape()));
  return tensordot(a, b, {-1}, {-1}, s);
}
array vecdot(const array& a, const array& b, int axis, StreamOrDevice s) {
  return sum(conjugate(a, s) * b, axis, false, s);
}
array kron(const array& a, const array& b, StreamOrDevice s) {
  const size_t rank = std::max(a.ndim(), b.ndim());
  Shape x(rank - a.ndim(), 1), y(rank - b.ndim(), 1), wide_x, wide_y, shape;
  x.insert(x.end(), a.shape().begin(), a.shape().end());
  y.insert(y.end(), b.shape().begin(), b.shape().end());
  for (size_t d = 0; d < rank; ++d) {
    wide_x.insert(wide_x.end(), {x[d], 1});
    wide_y.insert(wide_y.end(), {1, y[d]});
    shape.push_back(x[d] * y[d]);
  }
  return reshape_to(reshape_to(a, wide_x, s) * reshape_to(b, wide_y, s), shape, s);
}

namespace {

struct Labelled {
  array value;
  std::string labels;
};

/// Sums over what only this operand has, and takes diagonals where a letter stands twice.
Labelled reduced(Labelled operand, const std::string& needed, StreamOrDevice s) {
  for (size_t d = 0; d < operand.labels.size(); ++d) {
    const size_t twin = operand.labels.find(operand.labels[d], d + 1);
    if (twin == std::string::npos) continue;
    const char letter = operand.labels[d];
    operand.value = diagonal(operand.value, 0, static_cast<int>(d), static_cast<int>(twin), s);
    operand.labels.erase(twin, 1);
    operand.labels.erase(d, 1);
    operand.labels.push_back(letter);
    d = static_cast<size_t>(-1);
  }
  std::vector<int> gone;
  std::string left;
  for (size_t d = 0; d < operand.labels.size(); ++d) {
    if (needed.find(operand.labels[d]) == std::string::npos) {
      gone.push_back(static_cast<int>(d));
    } else {
      left += operand.labels[d];
    }
  }
  if (!gone.empty()) operand = {sum(operand.value, gone, false, s), left};
  return operand;
}

Labelled contracted(const Labelled& a, const Labelled& b, const std::string& needed, StreamOrDevice s) {
  DotDims dims;
  std::string batch, free_a, free_b;
  for (size_t d = 0; d < a.labels.size(); ++d) {
    const char letter = a.labels[d];
    const size_t other = b.labels.find(letter);
    if (other == std::string::npos) {
      free_a += letter;
    } else if (needed.find(letter) != std::string::npos) {
      batch += letter;
      dims.batch_a.push_back(static_cast<int64_t>(d));
      dims.batch_b.push_back(static_cast<int64_t>(other));
    } else {
      dims.contract_a.push_back(static_cast<int64_t>(d));
      dims.contract_b.push_back(static_cast<int64_t>(other));
    }
  }
  for (const char letter : b.labels) {
    if (a.labels.find(letter) == std::string::npos) free_b += letter;
  }
  return {dot(a.value, b.value, dims, a.value.dtype(), s), batch + free_a + free_b};
}

}  // namespace

array einsum(const std::string& subscripts, const std::vector<array>& operands, StreamOrDevice s) {
  std::string text;
  for (const char c : subscripts) {
    if (c != ' ') text += c;
  }
  const size_t arrow = text.find("->");
  std::vector<std::string> labels(1);
  for (const char c : text.substr(0, arrow)) {
    if (c == ',') {
      labels.emplace_back();
    } else if (std::isalpha(static_cast<unsigned char>(c))) {
      labels.back() += c;
    } else {
      fault("einsum", "found '{}' in \"{}\", expected letters, commas and ->", c, subscripts);
    }
  }
  if (labels.size() != operands.size()) fault("einsum", "found {} operands for \"{}\"", operands.size(), subscripts);
  std::map<char, int64_t> extents;
  std::map<char, int> uses;
  Dtype dtype = operands.empty() ? float32 : operands[0].dtype();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (labels[i].size() != operands[i].ndim())
      fault("einsum", "found an operand of shape {} for \"{}\"", to_string(operands[i].shape()), labels[i]);
    for (size_t d = 0; d < labels[i].size(); ++d) {
      const auto [known, is_new] = extents.emplace(labels[i][d], operands[i].shape()[d]);
      if (!is_new && known->second != operands[i].shape()[d])
        fault("einsum", "found extents {} and {} for '{}'", known->second, operands[i].shape()[d], labels[i][d]);
      ++uses[labels[i][d]];
    }
    dtype = promote_types(dtype, operands[i].dtype());
  }
  std::string result;
  if (arrow != std::string::npos) {
    result = text.substr(arrow + 2);
    for (const char c : result) {
      if (!extents.contains(c) || std::ranges::count(result, c) != 1)
        fault("einsum", "found the result \"{}\" of \"{}\"", result, subscripts);
    }
  } else {
    for (const auto& [letter, count] : uses) {
      if (count == 1) result += letter;
    }
  }
  std::vector<Labelled> left;
  for (size_t i = 0; i < operands.size(); ++i) left.push_back({as_type(operands[i], dtype, s), labels[i]});
  const auto needed_beside = [&](size_t i, size_t j) {
    std::string needed = result;
    for (size_t k = 0; k < left.size(); ++k) {
      if (k != i && k != j) needed += left[k].labels;
    }
    return needed;
  };
  for (size_t i = 0; i < left.size(); ++i) left[i] = reduced(left[i], needed_beside(i, i), s);
  const auto size_of_product = [&](size_t i, size_t j) {
    double size = 1;
    const std::string needed = needed_beside(i, j);
    std::set<char> letters(left[i].labels.begin(), left[i].labels.end());
    letters.insert(left[j].labels.begin(), left[j].labels.end());
    for (const char letter : letters) {
      if (needed.find(letter) != std::string::npos) size *= static_cast<double>(extents[letter]);
    }
    return size;
  };
  while (left.size() > 1) {  // the pair with the smallest product first
    size_t best_i = 0, best_j = 1;
    for (size_t i = 0; i < left.size(); ++i) {
      for (size_t j = i + 1; j < left.size(); ++j) {
        if (size_of_product(i, j) < size_of_product(best_i, best_j)) std::tie(best_i, best_j) = std::pair(i, j);
      }
    }
    const std::string needed = needed_beside(best_i, best_j);
    left[best_i] = contracted(left[best_i], left[best_j], needed, s);
    left.erase(left.begin() + static_cast<int64_t>(best_j));
  }
  const Labelled made = reduced(left[0], result, s);
  Dims permutation;
  for (const char letter : result) permutation.push_back(static_cast<int64_t>(made.labels.find(letter)));
  return permute(made.value, permutation, s);
}

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
array conv1d(const array& input, const array& weight, int stride, int padding, int dilation, int groups,
             StreamOrDevice s) {
  return conv_general(input, weight, {stride}, {padding}, {padding}, {dilation}, {}, groups, false, s);
}
array conv2d(const array& input, const array& weight, const std::pair<int, int>& stride,
             const std::pair<int, int>& padding, const std::pair<int, int>& dilation, int groups, StreamOrDevice s) {
  const std::vector<int> pads = {padding.first, padding.second};
  return conv_general(input, weight, {stride.first, stride.second}, pads, pads, {dilation.first, dilation.second}, {},
                      groups, false, s);
}

}  // namespace lowtide
