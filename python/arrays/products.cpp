// Products of matrices and tensors, and convolutions.
#include "bind.h"

namespace lowtide::python {
namespace {

using Numbers = std::vector<int>;
using Both = std::variant<int, std::pair<int, int>>;
std::pair<int, int> pair_of(const Both& both) {
  return both.index() == 0 ? std::pair(std::get<0>(both), std::get<0>(both)) : std::get<1>(both);
}

using Three = std::variant<int, std::tuple<int, int, int>>;
std::tuple<int, int, int> three_of(const Three& all) {
  if (all.index() == 1) return std::get<1>(all);
  const int one = std::get<0>(all);
  return {one, one, one};
}
using OneOrMore = std::variant<int, Numbers>;
using Padding = std::variant<int, Numbers, std::pair<Numbers, Numbers>>;
using Maybe = std::optional<ArrayLike>;
std::optional<array> maybe(const Maybe& like) { return like ? std::optional(array_of(*like)) : std::nullopt; }

using Contracted = std::variant<int, std::pair<std::variant<int, Numbers>, std::variant<int, Numbers>>>;
array tensordot_of(const array& a, const array& b, const Contracted& axes) {
  if (axes.index() == 0) return tensordot(a, b, std::get<0>(axes));
  const auto& [of_a, of_b] = std::get<1>(axes);
  return tensordot(a, b, axes_of(of_a), axes_of(of_b));
}

}  // namespace

void bind_products(nb::module_& m) {
  binary(m, "matmul", matmul, "Products of the matrices in the last two dimensions, which are floats.");
  binary(m, "outer", outer, "Each element of one times each of the other, (size of a, size of b).");
  binary(m, "inner", inner, "Sums of products along the last dimension of both.");
  binary(m, "kron", kron, "Each element of a times the whole of b, in its place.");
  m.def("vecdot", of_arrays<int>([](const array& a, const array& b, int axis) { return vecdot(a, b, axis); }), "a"_a,
        "b"_a, "axis"_a = -1, "Sums of products along an axis; a is conjugated.");
  m.def("tensordot", of_arrays<Contracted>(tensordot_of), "a"_a, "b"_a, "axes"_a = 2,
        "Sums of products over the last axes of a and the first of b, or over those that are named.");
  m.def(
      "addmm",
      [](const ArrayLike& c, const ArrayLike& a, const ArrayLike& b, float alpha, float beta) {
        const auto [x, y] = operands(a, b);
        const array z = array_of(c, x.dtype());
        return unlocked([&, &x = x, &y = y] { return addmm(z, x, y, alpha, beta); });
      },
      "c"_a, "a"_a, "b"_a, "alpha"_a = 1.0F, "beta"_a = 1.0F, "beta c + alpha a b");
  m.def(
      "einsum",
      [](const std::string& subscripts, const nb::args& operands) {
        const std::vector<array> in = arrays_of(operands);
        return unlocked([&] { return einsum(subscripts, in); });
      },
      "subscripts"_a, "operands"_a, "\"ij,jk->ik\": as NumPy has it.");
  m.def(
      "einsum_path",
      [](const std::string& subscripts, const nb::args& operands) {
        const std::vector<array> in = arrays_of(operands);
        auto [steps, text] = unlocked([&] { return einsum_path(subscripts, in); });
        nb::list path;
        for (const Numbers& step : steps) path.append(nb::tuple(nb::cast(step)));
        return std::pair(path, text);
      },
      "subscripts"_a, "operands"_a, "(operands that einsum multiplies, step by step; a text about it)");
  m.def(
      "gather_mm",
      [](const ArrayLike& a, const ArrayLike& b, const Maybe& left, const Maybe& right, bool is_sorted) {
        const auto [x, y] = operands(a, b);
        const auto i = maybe(left), j = maybe(right);
        return unlocked([&, &x = x, &y = y] { return gather_mm(x, y, i, j, is_sorted); });
      },
      "a"_a, "b"_a, "lhs_indices"_a = nb::none(), "rhs_indices"_a = nb::none(), nb::kw_only(),
      "sorted_indices"_a = false,
      "Products of the matrices that indices name, counted over all batch dimensions; without them in order.");
  m.def(
      "segmented_mm",
      [](const ArrayLike& a, const ArrayLike& b, const ArrayLike& segments) {
        const auto [x, y] = operands(a, b);
        const array ends = array_of(segments);
        return unlocked([&, &x = x, &y = y] { return segmented_mm(x, y, ends); });
      },
      "a"_a, "b"_a, "segments"_a, "a[:, from:to] @ b[from:to] for each (from, to) along the last dimension.");
  m.def(
      "block_masked_mm",
      [](const ArrayLike& a, const ArrayLike& b, int block_size, const Maybe& out, const Maybe& left,
         const Maybe& right) {
        const auto [x, y] = operands(a, b);
        const auto of_out = maybe(out), of_left = maybe(left), of_right = maybe(right);
        return unlocked([&, &x = x, &y = y] { return block_masked_mm(x, y, block_size, of_out, of_left, of_right); });
      },
      "a"_a, "b"_a, "block_size"_a = 64, "mask_out"_a = nb::none(), "mask_lhs"_a = nb::none(),
      "mask_rhs"_a = nb::none(),
      "matmul() with masks, one element for block_size x block_size; booleans say what is 0.");
  m.def("hadamard_transform", of_array<std::optional<float>>([](const array& a, std::optional<float> scale) {
          return hadamard_transform(a, scale);
        }),
        "a"_a, "scale"_a = nb::none(),
        "Rows times the Hadamard matrix of m 2^k, of which m is 1, 12, 20 or 28; scale: 1 / sqrt(m 2^k).");
  m.def("conv_general",
        of_arrays<OneOrMore, Padding, OneOrMore, OneOrMore, int, bool>(
            [](const array& a, const array& w, const OneOrMore& stride, const Padding& padding,
               const OneOrMore& kernel_dilation, const OneOrMore& input_dilation, int groups, bool flips) {
              const bool is_pair = padding.index() == 2;
              const Numbers low = is_pair                ? std::get<2>(padding).first
                                  : padding.index() == 1 ? std::get<1>(padding)
                                                         : Numbers{std::get<0>(padding)};
              return conv_general(a, w, axes_of(stride), low, is_pair ? std::get<2>(padding).second : low,
                                  axes_of(kernel_dilation), axes_of(input_dilation), groups, flips);
            }),
        "input"_a, "weight"_a, "stride"_a = 1, "padding"_a = 0, "kernel_dilation"_a = 1, "input_dilation"_a = 1,
        "groups"_a = 1, "flip"_a = false,
        "input (batch, spatial..., features), weight (features of the result, spatial..., features / groups). Of "
        "each spatial dimension, or all; padding: the same at both ends, or (before, after).");
  m.def("conv1d",
        of_arrays<int, int, int, int>([](const array& a, const array& w, int stride, int padding, int dilation,
                                         int groups) { return conv1d(a, w, stride, padding, dilation, groups); }),
        "input"_a, "weight"_a, "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1, "groups"_a = 1,
        "input (batch, extent, features), weight (features of the result, extent, features / groups).");
  m.def("conv2d",
        of_arrays<Both, Both, Both, int>(
            [](const array& a, const array& w, const Both& stride, const Both& padding, const Both& dilation,
               int groups) { return conv2d(a, w, pair_of(stride), pair_of(padding), pair_of(dilation), groups); }),
        "input"_a, "weight"_a, "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1, "groups"_a = 1,
        "input (batch, rows, columns, features), weight (features of the result, rows, columns, features / groups).");
  m.def("conv3d",
        of_arrays<Three, Three, Three, int>(
            [](const array& a, const array& w, const Three& stride, const Three& padding, const Three& dilation,
               int groups) { return conv3d(a, w, three_of(stride), three_of(padding), three_of(dilation), groups); }),
        "input"_a, "weight"_a, "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1, "groups"_a = 1,
        "As conv2d, of three spatial dimensions.");
  constexpr const char* kTransposed =
      "Each element of the input is spread over a window of the result, `stride` apart; padding cuts both ends off, "
      "output_padding adds to the far one.";
  m.def("conv_transpose1d",
        of_arrays<int, int, int, int, int>(
            [](const array& a, const array& w, int stride, int padding, int dilation, int more, int groups) {
              return conv_transpose1d(a, w, stride, padding, dilation, more, groups);
            }),
        "input"_a, "weight"_a, "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1, "output_padding"_a = 0,
        "groups"_a = 1, kTransposed);
  m.def(
      "conv_transpose2d",
      of_arrays<Both, Both, Both, Both, int>([](const array& a, const array& w, const Both& stride, const Both& padding,
                                                const Both& dilation, const Both& more, int groups) {
        return conv_transpose2d(a, w, pair_of(stride), pair_of(padding), pair_of(dilation), pair_of(more), groups);
      }),
      "input"_a, "weight"_a, "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1, "output_padding"_a = 0, "groups"_a = 1,
      kTransposed);
  m.def(
      "conv_transpose3d",
      of_arrays<Three, Three, Three, Three, int>([](const array& a, const array& w, const Three& stride,
                                                    const Three& padding, const Three& dilation, const Three& more,
                                                    int groups) {
        return conv_transpose3d(a, w, three_of(stride), three_of(padding), three_of(dilation), three_of(more), groups);
      }),
      "input"_a, "weight"_a, "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1, "output_padding"_a = 0, "groups"_a = 1,
      kTransposed);
}

}  // namespace lowtide::python
