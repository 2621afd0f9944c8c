// Products of matrices and tensors, and convolutions.
#include "bind.h"

namespace lowtide::python {
namespace {

using Numbers = std::vector<int>;
using Both = std::variant<int, std::pair<int, int>>;
std::pair<int, int> pair_of(const Both& both) {
  return both.index() == 0 ? std::pair(std::get<0>(both), std::get<0>(both)) : std::get<1>(both);
}

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
  m.def("conv_general",
        of_arrays<Numbers, Numbers, Numbers, Numbers, Numbers, int, bool>(
            [](const array& a, const array& w, const Numbers& stride, const Numbers& low, const Numbers& high,
               const Numbers& kernel_dilation, const Numbers& input_dilation, int groups, bool flips) {
              return conv_general(a, w, stride, low, high, kernel_dilation, input_dilation, groups, flips);
            }),
        "input"_a, "weight"_a, "stride"_a, "padding_lo"_a, "padding_hi"_a, "kernel_dilation"_a = Numbers{},
        "input_dilation"_a = Numbers{}, "groups"_a = 1, "flip"_a = false,
        "input (batch, spatial..., features), weight (features of the result, spatial..., features / groups).");
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
}

}  // namespace lowtide::python
