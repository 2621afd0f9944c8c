// Dot and convolution. The derivative by one operand is again a dot or convolution, of the other operand and the
// cotangent.
#include <fmt/format.h>

#include <algorithm>

#include "arrays/primitives.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

bool has(const Dims& dims, int64_t d) { return std::ranges::find(dims, d) != dims.end(); }

Dims free_of(size_t rank, const Dims& contracted, const Dims& batch) {
  Dims free;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    if (!has(contracted, d) && !has(batch, d)) free.push_back(d);
  }
  return free;
}

Dims numbers(int64_t from, size_t count) {
  Dims made;
  for (size_t i = 0; i < count; ++i) made.push_back(from + static_cast<int64_t>(i));
  return made;
}

/// The gradient of `mine`, which is the dot's first or second operand.
array dot_gradient(const array& c, const array& mine, const array& other, const Dims& contract_mine,
                   const Dims& contract_other, const Dims& batch_mine, const Dims& batch_other, bool first) {
  const Dims free_mine = free_of(mine.ndim(), contract_mine, batch_mine);
  const Dims free_other = free_of(other.ndim(), contract_other, batch_other);
  const int64_t batches = static_cast<int64_t>(batch_mine.size());
  const int64_t other_from = batches + (first ? static_cast<int64_t>(free_mine.size()) : 0);
  const array like_c = other.dtype().val == c.dtype().val ? other : elementwise(Op::kConvert, {other}, c.dtype());
  const array product = dot(c, like_c,
                            {.contract_a = numbers(other_from, free_other.size()),
                             .contract_b = free_other,
                             .batch_a = numbers(0, batch_mine.size()),
                             .batch_b = batch_other},
                            c.dtype());
  // The product has the batch dimensions, the free dimensions of mine, and the contracted ones in the other's order.
  Dims order = batch_mine;
  order.insert(order.end(), free_mine.begin(), free_mine.end());
  Dims ascending = contract_other;
  std::ranges::sort(ascending);
  for (const int64_t d : ascending)
    order.push_back(contract_mine[at(std::ranges::find(contract_other, d) - contract_other.begin())]);
  Dims permutation(order.size());
  for (size_t i = 0; i < order.size(); ++i) permutation[at(order[i])] = static_cast<int64_t>(i);
  return permute(product, permutation);
}

class Dot final : public Primitive {
 public:
  explicit Dot(DotDims dims) : dims_(std::move(dims)) {}
  std::string_view name() const override { return "dot"; }
  void describe(Key& key) const override {
    for (const Dims* dims : {&dims_.contract_a, &dims_.contract_b, &dims_.batch_a, &dims_.batch_b}) key.numbers(*dims);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    Attributes attributes;
    if (!dims_.batch_a.empty()) {
      attributes.push_back({"lhs_batch_dims", list_text(dims_.batch_a)});
      attributes.push_back({"rhs_batch_dims", list_text(dims_.batch_b)});
    }
    attributes.push_back({"lhs_contracting_dims", list_text(dims_.contract_a)});
    attributes.push_back({"rhs_contracting_dims", list_text(dims_.contract_b)});
    return {to.add("dot", in, std::move(attributes), out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    Gradients gradients(2);
    const array& c = b.cotangents[0];
    if (b.wanted[0])
      gradients[0] = dot_gradient(c, b.inputs[0], b.inputs[1], dims_.contract_a, dims_.contract_b, dims_.batch_a,
                                  dims_.batch_b, true);
    if (b.wanted[1])
      gradients[1] = dot_gradient(c, b.inputs[1], b.inputs[0], dims_.contract_b, dims_.contract_a, dims_.batch_b,
                                  dims_.batch_a, false);
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    const auto beside = [](const Dims& dims, bool batched) { return batched ? shifted(dims) : dims; };
    DotDims dims{beside(dims_.contract_a, batch.batched[0]), beside(dims_.contract_b, batch.batched[1]),
                 beside(dims_.batch_a, batch.batched[0]), beside(dims_.batch_b, batch.batched[1])};
    const Dtype dtype = batch.outputs[0].dtype;
    if (batch.batched[0] && batch.batched[1]) {
      dims.batch_a.insert(dims.batch_a.begin(), 0);
      dims.batch_b.insert(dims.batch_b.begin(), 0);
      return {dot(batch.inputs[0], batch.inputs[1], dims, dtype)};
    }
    const array made = dot(batch.inputs[0], batch.inputs[1], dims, dtype);
    int64_t place = static_cast<int64_t>(dims_.batch_a.size());  // the batch is its operand's first free dimension
    if (batch.batched[1])
      place += static_cast<int64_t>(free_of(batch.inputs[0].ndim(), dims_.contract_a, dims_.batch_a).size());
    return {moveaxis(made, static_cast<int>(place), 0)};
  }

 private:
  DotDims dims_;
};

int64_t dilated(int64_t extent, int64_t by) { return extent == 0 ? 0 : (extent - 1) * by + 1; }

std::string swapped(std::string labels, char a, char b) {
  for (char& letter : labels) letter = letter == a ? b : letter == b ? a : letter;
  return labels;
}

std::string renamed(std::string labels, char a, char as_a, char b, char as_b) {
  for (char& letter : labels) letter = letter == a ? as_a : letter == b ? as_b : letter;
  return labels;
}

class Convolution final : public Primitive {
 public:
  explicit Convolution(ConvolutionDims dims) : dims_(std::move(dims)) {}
  std::string_view name() const override { return "convolution"; }
  void describe(Key& key) const override {
    for (const Dims* dims : {&dims_.stride, &dims_.low, &dims_.high, &dims_.kernel_dilation, &dims_.input_dilation})
      key.numbers(*dims);
    key.number(dims_.groups);
    key.number(dims_.batch_groups);
    key.number(dims_.flip);
    for (const std::string* labels : {&dims_.input, &dims_.kernel, &dims_.output}) key.text(*labels);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    std::string size, stride, pad, lhs, rhs, reversal;
    for (size_t d = 0; d < dims_.stride.size(); ++d) {
      const char* const x = d ? "x" : "";
      size += fmt::format("{}{}", x, spatial(in[1].shape, dims_.kernel, d));
      stride += fmt::format("{}{}", x, dims_.stride[d]);
      pad += fmt::format("{}{}_{}", x, dims_.low[d], dims_.high[d]);
      lhs += fmt::format("{}{}", x, dims_.input_dilation[d]);
      rhs += fmt::format("{}{}", x, dims_.kernel_dilation[d]);
      reversal += fmt::format("{}{}", x, dims_.flip ? 1 : 0);
    }
    const std::string window = fmt::format("{{size={} stride={} pad={} lhs_dilate={} rhs_dilate={} rhs_reversal={}}}",
                                           size, stride, pad, lhs, rhs, reversal);
    Attributes attributes = {{"window", window},
                             {"dim_labels", fmt::format("{}_{}->{}", dims_.input, dims_.kernel, dims_.output)}};
    if (dims_.groups != 1) attributes.push_back({"feature_group_count", std::to_string(dims_.groups)});
    if (dims_.batch_groups != 1) attributes.push_back({"batch_group_count", std::to_string(dims_.batch_groups)});
    return {to.add("convolution", in, std::move(attributes), out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    const array &c = b.cotangents[0], &input = b.inputs[0], &kernel = b.inputs[1];
    Gradients gradients(2);
    ConvolutionDims by_input = dims_, by_kernel = dims_;
    by_input.stride = dims_.input_dilation;
    by_input.input_dilation = dims_.stride;
    by_kernel.stride = dims_.kernel_dilation;
    by_kernel.kernel_dilation = dims_.stride;
    for (size_t d = 0; d < dims_.stride.size(); ++d) {
      const int64_t in = dilated(spatial(input.shape(), dims_.input, d), dims_.input_dilation[d]);
      const int64_t window = dilated(spatial(kernel.shape(), dims_.kernel, d), dims_.kernel_dilation[d]);
      const int64_t out = dilated(spatial(c.shape(), dims_.output, d), dims_.stride[d]);
      by_input.low[d] = window - dims_.low[d] - 1;
      by_input.high[d] = in + window - 1 - out - by_input.low[d];
      by_kernel.high[d] = out + window - in - 1 - dims_.low[d];
    }
    if (b.wanted[0]) {
      by_input.flip = !dims_.flip;
      by_input.input = dims_.output;
      by_input.output = dims_.input;
      by_input.kernel = swapped(dims_.kernel, 'o', 'i');
      array weights = kernel;
      const int64_t groups = std::max(dims_.groups, dims_.batch_groups);
      by_input.groups = groups;
      by_input.batch_groups = 1;
      if (groups > 1) {  // o = groups * o': the groups move from the output features to the input features
        const int64_t o = static_cast<int64_t>(dims_.kernel.find('o')),
                      i = static_cast<int64_t>(dims_.kernel.find('i'));
        Shape apart = kernel.shape();
        apart[at(o)] /= groups;
        apart.insert(apart.begin() + o, groups);
        const int64_t i_now = i + (i > o ? 1 : 0);
        array split =
            moveaxis(reshape_to(kernel, apart), static_cast<int>(o), static_cast<int>(i_now - (i_now > o ? 1 : 0)));
        Shape together = kernel.shape();
        together[at(o)] /= groups;
        together[at(i)] *= groups;
        weights = reshape_to(split, together);
      }
      if (dims_.batch_groups == 1) {
        gradients[0] = convolution(c, weights, by_input, input.shape());
      } else {  // the groups are part of the batch
        const auto batch = dims_.input.find('b'), feature = dims_.input.find('f');
        Shape grouped = input.shape(), apart;
        grouped[batch] /= groups;
        grouped[feature] *= groups;
        const array made = convolution(c, weights, by_input, grouped);
        apart = grouped;
        apart[feature] /= groups;
        apart.insert(apart.begin() + static_cast<int64_t>(feature), groups);
        const auto before = static_cast<int>(batch);  // the batch's place, whether batch or feature comes first
        gradients[0] = reshape_to(moveaxis(reshape_to(made, apart), static_cast<int>(feature), before), input.shape());
      }
    }
    if (b.wanted[1]) {
      by_kernel.input = swapped(dims_.input, 'b', 'f');
      by_kernel.kernel = renamed(dims_.output, 'b', 'i', 'f', 'o');
      by_kernel.output = renamed(dims_.kernel, 'i', 'b', 'o', 'f');
      by_kernel.batch_groups = dims_.groups;
      by_kernel.groups = dims_.batch_groups;
      by_kernel.flip = false;
      array made = convolution(input, c, by_kernel, kernel.shape());
      if (dims_.flip) {
        Dims spatials;
        for (size_t d = 0; d < dims_.kernel.size(); ++d) {
          if (dims_.kernel[d] >= '0' && dims_.kernel[d] <= '9') spatials.push_back(static_cast<int64_t>(d));
        }
        made = reverse(made, spatials);
      }
      gradients[1] = made;
    }
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    const Shape& shape = batch.outputs[0].shape;
    if (!batch.batched[1] && dims_.batch_groups == 1) {  // merges both batch dimensions
      const auto b = dims_.input.find('b'), to = dims_.output.find('b');
      const array front = moveaxis(batch.inputs[0], 0, static_cast<int>(b));
      Shape merged = batch.inputs[0].shape();
      merged.erase(merged.begin());
      merged[b] *= batch.count;
      Shape out = shape;
      out[to] *= batch.count;
      const array made = convolution(reshape_to(front, merged), batch.inputs[1], dims_, out);
      Shape apart = shape;
      apart.insert(apart.begin() + static_cast<int64_t>(to), batch.count);
      return {moveaxis(reshape_to(made, apart), static_cast<int>(to), 0)};
    }
    std::vector<array> each;
    for (int64_t k = 0; k < batch.count; ++k) {
      const auto of = [&](size_t i) {
        return batch.batched[i] ? take(batch.inputs[i], static_cast<int>(k), 0) : batch.inputs[i];
      };
      each.push_back(convolution(of(0), of(1), dims_, shape));
    }
    return {stack(each, 0)};
  }

 private:
  static int64_t spatial(const Shape& shape, const std::string& labels, size_t d) {
    return shape[labels.find(static_cast<char>('0' + d))];
  }
  ConvolutionDims dims_;
};

}  // namespace

array dot(const array& a, const array& b, const DotDims& dims, Dtype dtype, StreamOrDevice s) {
  Shape shape;
  for (const int64_t d : dims.batch_a) shape.push_back(a.shape()[at(d)]);
  for (const int64_t d : free_of(a.ndim(), dims.contract_a, dims.batch_a)) shape.push_back(a.shape()[at(d)]);
  for (const int64_t d : free_of(b.ndim(), dims.contract_b, dims.batch_b)) shape.push_back(b.shape()[at(d)]);
  return apply(std::make_shared<Dot>(dims), {a, b}, std::move(shape), dtype, s);
}

array convolution(const array& input, const array& kernel, const ConvolutionDims& dims, const Shape& shape,
                  StreamOrDevice s) {
  return apply(std::make_shared<Convolution>(dims), {input, kernel}, shape, input.dtype(), s);
}

}  // namespace lowtide::lazy
