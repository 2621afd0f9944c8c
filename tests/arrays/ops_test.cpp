// Operations by families, beside plain loops or numbers known from NumPy.
#include <algorithm>
#include <functional>

#include "support.h"

namespace lowtide {
namespace {

TEST(ArraysOps, LiteralsHaveTheirTypes) {
  EXPECT_EQ(array(2).dtype(), int32);
  EXPECT_EQ(array(2.0F).dtype(), float32);
  EXPECT_EQ(array(2.0).dtype(), float32);
  EXPECT_EQ(array(true).dtype(), bool_);
  EXPECT_EQ(array({1, 2, 3}).dtype(), int32);
  EXPECT_EQ(array({1.0, 2.0}).dtype(), float32);
  EXPECT_EQ(array({1.0F, 2.0F}, bfloat16).dtype(), bfloat16);
  EXPECT_EQ(array({1, 2, 3, 4}, Shape{2, 2}).shape(), (Shape{2, 2}));
  EXPECT_EQ(array(3, float16).item<float>(), 3.0F);
  EXPECT_EQ(array(70000.0F, float16).item<float>(), INFINITY);
  EXPECT_EQ(array(1.0F + 1.0F / 256, bfloat16).item<float>(), 1.0F);  // to even
  EXPECT_EQ(array(-7).item<int64_t>(), -7);
}

TEST(ArraysOps, TypesArePromoted) {
  const struct {
    Dtype a, b, both;
  } kCases[] = {{bool_, int8, int8},         {uint8, int8, int16},           {uint32, int32, int64},
                {uint64, int64, float32},    {int64, float16, float16},      {float16, bfloat16, float32},
                {float32, float64, float64}, {float64, complex64, complex64}};
  for (const auto& c : kCases) {
    EXPECT_EQ(promote_types(c.a, c.b), c.both);
    EXPECT_EQ(promote_types(c.b, c.a), c.both);
  }
  EXPECT_EQ((array({1}, uint8) + array({2.0F}, bfloat16)).dtype(), bfloat16);
  EXPECT_EQ((array(1) / array(2)).dtype(), float32);
  EXPECT_EQ(sqrt(array(4)).dtype(), float32);
  EXPECT_EQ((array(1) < array(2)).dtype(), bool_);
}

TEST(ArraysOps, OperatorsBroadcast) {
  const array a = reshape(arange(6), {2, 3}), row = array({10, 20, 30}), column = array({100, 200}, Shape{2, 1});
  EXPECT_EQ(ints(a + row + column), (std::vector<int>{110, 121, 132, 213, 224, 235}));
  EXPECT_EQ(ints(2 * a - 1), (std::vector<int>{-1, 1, 3, 5, 7, 9}));
  EXPECT_EQ(ints(a % 4), (std::vector<int>{0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(ints(array({-7, 7, -7, 7}) % array({3, 3, -3, -3})), (std::vector<int>{2, 1, -1, -2}));
  EXPECT_EQ(ints((a > 2) || (a == 0)), (std::vector<int>{1, 0, 0, 1, 1, 1}));
  EXPECT_EQ(ints((a & 1) | (a << 1)), (std::vector<int>{0, 3, 4, 7, 8, 11}));
  EXPECT_EQ(ints(~a), (std::vector<int>{-1, -2, -3, -4, -5, -6}));
  EXPECT_EQ(ints(array({-8, 8}) >> 1), (std::vector<int>{-4, 4}));
}

TEST(ArraysOps, FunctionsOfOneArray) {
  const std::vector<float> x = {-0.9F, -0.3F, 0.0F, 0.2F, 0.8F};
  const array a(x.begin(), {5});
  const struct {
    array (*ours)(const array&, StreamOrDevice);
    double (*theirs)(double);
    float shift;
  } kCases[] = {{exp, std::exp, 0},       {expm1, std::expm1, 0},   {log1p, std::log1p, 0}, {sin, std::sin, 0},
                {cos, std::cos, 0},       {tan, std::tan, 0},       {arcsin, std::asin, 0}, {arccos, std::acos, 0},
                {arctan, std::atan, 0},   {sinh, std::sinh, 0},     {cosh, std::cosh, 0},   {tanh, std::tanh, 0},
                {arcsinh, std::asinh, 0}, {arctanh, std::atanh, 0}, {erf, std::erf, 0},     {abs, std::fabs, 0},
                {floor, std::floor, 0},   {ceil, std::ceil, 0},     {trunc, std::trunc, 0}, {arccosh, std::acosh, 2},
                {log, std::log, 1},       {log2, std::log2, 1},     {log10, std::log10, 1}, {sqrt, std::sqrt, 1}};
  std::vector<array> made;
  for (const auto& c : kCases) made.push_back(c.ours(a + c.shift, {}));
  eval(made);
  for (size_t k = 0; k < made.size(); ++k) {
    std::vector<float> expected;
    for (const float v : x)
      expected.push_back(static_cast<float>(kCases[k].theirs(static_cast<double>(v + kCases[k].shift))));
    SCOPED_TRACE(k);
    expect_near(made[k], expected, 2e-6F);
  }
  expect_near(round(array({0.5F, 1.5F, -2.5F})), {0, 2, -2});
  expect_near(sigmoid(array({0.0F})), {0.5F});
  EXPECT_EQ(ints(isnan(array({NAN, 1.0F, INFINITY}))), (std::vector<int>{1, 0, 0}));
  EXPECT_EQ(ints(isinf(array({NAN, 1.0F, -INFINITY}))), (std::vector<int>{0, 0, 1}));
  expect_near(nan_to_num(array({NAN, 2.0F, INFINITY}), 7), {7, 2, 3.40282347e38F});
  expect_near(logaddexp(array({0.0F, -INFINITY}), array({0.0F, -INFINITY})), {std::log(2.0F), -INFINITY});
}

TEST(ArraysOps, ShapesMove) {
  const array a = reshape(arange(6), {2, 3});
  EXPECT_EQ(ints(transpose(a)), (std::vector<int>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(reshape(a, {3, -1}).shape(), (Shape{3, 2}));
  EXPECT_EQ(ints(flip(a, 1)), (std::vector<int>{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(ints(roll(a, 1, 1)), (std::vector<int>{2, 0, 1, 5, 3, 4}));
  EXPECT_EQ(ints(roll(a, -2)), (std::vector<int>{2, 3, 4, 5, 0, 1}));
  EXPECT_EQ(ints(repeat(array({1, 2}), 2)), (std::vector<int>{1, 1, 2, 2}));
  EXPECT_EQ(ints(tile(array({1, 2}), {2, 2})), (std::vector<int>{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(ints(stack({array({1, 2}), array({3, 4})}, 1)), (std::vector<int>{1, 3, 2, 4}));
  EXPECT_EQ(ints(concatenate({a, a}, 1)), (std::vector<int>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(ints(pad(array({1, 2}), 1)), (std::vector<int>{0, 1, 2, 0}));
  EXPECT_EQ(ints(pad(array({1, 2}), std::pair{1, 2}, array(0), "edge")), (std::vector<int>{1, 1, 2, 2, 2}));
  EXPECT_EQ(ints(split(arange(6), 3)[1]), (std::vector<int>{2, 3}));
  EXPECT_EQ(expand_dims(a, std::vector<int>{0, -1}).shape(), (Shape{1, 2, 3, 1}));
  EXPECT_EQ(squeeze(expand_dims(a, 1)).shape(), (Shape{2, 3}));
  EXPECT_EQ(flatten(zeros({2, 3, 4}), 1).shape(), (Shape{2, 12}));
  EXPECT_EQ(moveaxis(zeros({2, 3, 4}), 0, -1).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(ints(as_strided(arange(6), {3, 2}, {1, 2}, 1)), (std::vector<int>{1, 3, 2, 4, 3, 5}));
  EXPECT_EQ(ints(tril(ones({2, 3}, int32))), (std::vector<int>{1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(ints(triu(ones({2, 3}, int32), 1)), (std::vector<int>{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(ints(eye(2, 3, 1, int32)), (std::vector<int>{0, 1, 0, 0, 0, 1}));
  expect_near(linspace(0, 1, 5), {0, 0.25F, 0.5F, 0.75F, 1});
  expect_near(arange(1.0, 2.0, 0.25), {1, 1.25F, 1.5F, 1.75F});
  EXPECT_EQ(elements<uint8_t>(view(array({0x04030201}), uint8)), (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(elements<uint32_t>(view(array({1, 2, 3, 4}, uint8), uint32)), (std::vector<uint32_t>{0x04030201}));
}

TEST(ArraysOps, PartsAreReadAndWritten) {
  const array a = reshape(arange(12), {3, 4});
  EXPECT_EQ(ints(slice(a, {0, 1}, {3, 4}, {2, 2})), (std::vector<int>{1, 3, 9, 11}));
  EXPECT_EQ(ints(slice(arange(6), {4}, {0}, {-2})), (std::vector<int>{4, 2}));
  EXPECT_EQ(ints(slice(arange(4), {-1}, {-5}, {-1})), (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(ints(slice(a, array({1, 9}), {0, 1}, {2, 2})), (std::vector<int>{6, 7, 10, 11}));
  EXPECT_EQ(ints(slice_update(arange(5), array({8, 9}), {1}, {3})), (std::vector<int>{0, 8, 9, 3, 4}));
  EXPECT_EQ(ints(slice_update(arange(5), array({8, 9}), {0}, {4}, {2})), (std::vector<int>{8, 1, 9, 3, 4}));
  EXPECT_EQ(ints(slice_update_add(arange(5), array(10), {3}, {5})), (std::vector<int>{0, 1, 2, 13, 14}));
  EXPECT_EQ(ints(slice_update(arange(5), array({8, 9}), array({3}), {0})), (std::vector<int>{0, 1, 2, 8, 9}));
  EXPECT_EQ(ints(take(a, array({2, -3}), 0)), (std::vector<int>{8, 9, 10, 11, 0, 1, 2, 3}));
  EXPECT_EQ(ints(take(a, array({0, 3}), 1)), (std::vector<int>{0, 3, 4, 7, 8, 11}));
  EXPECT_EQ(ints(take(a, 5)), (std::vector<int>{5}));
  EXPECT_EQ(ints(take_along_axis(a, array({1, 0, 3}, Shape{3, 1}), 1)), (std::vector<int>{1, 4, 11}));
  EXPECT_EQ(ints(put_along_axis(zeros({2, 3}, int32), array({2, 0}, Shape{2, 1}), array(7), 1)),
            (std::vector<int>{0, 0, 7, 7, 0, 0}));
  EXPECT_EQ(ints(gather(a, {array({0, 2}), array({1, 3})}, {0, 1}, {1, 1})), (std::vector<int>{1, 11}));
  EXPECT_EQ(ints(scatter_add(zeros({3}, int32), array({0, 2, 0}), array({1, 2, 3}, Shape{3, 1}), 0)),
            (std::vector<int>{4, 0, 2}));
  EXPECT_EQ(ints(scatter_max(ones({3}, int32), array({0, 2}), array({0, 5}, Shape{2, 1}), 0)),
            (std::vector<int>{1, 1, 5}));
  EXPECT_EQ(ints(diagonal(a, 1)), (std::vector<int>{1, 6, 11}));
  EXPECT_EQ(ints(diag(array({1, 2}), -1)), (std::vector<int>{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(trace(a).item<int>(), 15);
}

TEST(ArraysOps, ReductionsFoldAxes) {
  const array a = reshape(arange(6), {2, 3}), x = astype(a, float32);
  EXPECT_EQ(sum(a).item<int>(), 15);
  EXPECT_EQ(ints(sum(a, 0)), (std::vector<int>{3, 5, 7}));
  EXPECT_EQ(sum(a, {0, 1}, true).shape(), (Shape{1, 1}));
  EXPECT_EQ(ints(prod(a + 1, 1)), (std::vector<int>{6, 120}));
  EXPECT_EQ(ints(max(a, -1)), (std::vector<int>{2, 5}));
  EXPECT_EQ(min(a).item<int>(), 0);
  EXPECT_TRUE(std::isnan(max(array({1.0F, NAN})).item<float>()));
  EXPECT_EQ(ints(argmax(array({1, 5, 5, 0}, Shape{2, 2}), 1)), (std::vector<int>{1, 0}));
  EXPECT_EQ(argmin(array({3.0F, 1.0F, 1.0F})).item<uint32_t>(), 1U);
  EXPECT_EQ(sum(array({true, true, false})).dtype(), int32);
  expect_near(mean(x, 0), {1.5F, 2.5F, 3.5F});
  expect_near(var(x), {35.0F / 12});
  expect_near(std(x, 1, false, 1), {1, 1});
  expect_near(logsumexp(array({1000.0F, 1000.0F})), {1000 + std::log(2.0F)});
  expect_near(softmax(array({0.0F, 0.0F, -INFINITY})), {0.5F, 0.5F, 0});
  expect_near(median(array({3.0F, 1.0F, 2.0F, 10.0F})), {2.5F});
  EXPECT_EQ(ints(cumsum(a, 1)), (std::vector<int>{0, 1, 3, 3, 7, 12}));
  EXPECT_EQ(ints(cumsum(a, 1, true)), (std::vector<int>{3, 3, 2, 12, 9, 5}));
  EXPECT_EQ(ints(cumsum(a, 1, false, false)), (std::vector<int>{0, 0, 1, 0, 3, 7}));
  EXPECT_EQ(ints(cumprod(a + 1)), (std::vector<int>{1, 2, 6, 24, 120, 720}));
  EXPECT_EQ(ints(cummax(array({1, 3, 2, 5}))), (std::vector<int>{1, 3, 3, 5}));
  expect_near(logcumsumexp(array({0.0F, 0.0F, 0.0F})), {0, std::log(2.0F), std::log(3.0F)});
  EXPECT_EQ(ints(diff(array({1, 4, 9, 16}), 2)), (std::vector<int>{2, 2}));
  EXPECT_EQ(ints(all(array({1, 0, 1, 1}, Shape{2, 2}), 1)), (std::vector<int>{0, 1}));
  EXPECT_EQ(count_nonzero(a).item<int>(), 5);
  EXPECT_TRUE(array_equal(a, a).item<bool>());
  EXPECT_TRUE(allclose(x + 1.0F, x + 1.000001F).item<bool>());
}

TEST(ArraysOps, OrdersAreStableAndPutNaNLast) {
  expect_near(slice(sort(array({3.0F, NAN, -1.0F, 2.0F})), {0}, {3}), {-1, 2, 3});
  EXPECT_EQ(ints(argsort(array({2, 1, 2, 1}))), (std::vector<int>{1, 3, 0, 2}));
  EXPECT_EQ(ints(sort(array({3, 1, 2, 9, 8, 7}, Shape{2, 3}), 1)), (std::vector<int>{1, 2, 3, 7, 8, 9}));
  EXPECT_EQ(ints(topk(array({5, 1, 4, 2}), 2)), (std::vector<int>{4, 5}));
  EXPECT_EQ(ints(searchsorted(array({1, 3, 3, 5}), array({0, 3, 6}))), (std::vector<int>{0, 1, 4}));
  EXPECT_EQ(ints(searchsorted(array({1, 3, 3, 5}), array({0, 3, 6}), "right")), (std::vector<int>{0, 3, 4}));
}

TEST(ArraysOps, ProductsSum) {
  const array a = astype(reshape(arange(6), {2, 3}), float32), b = astype(reshape(arange(12), {3, 4}), float32);
  expect_near(matmul(a, b), {20, 23, 26, 29, 56, 68, 80, 92});
  expect_near(matmul(array({1.0F, 2.0F, 3.0F}), array({1.0F, 2.0F, 3.0F})), {14});
  EXPECT_EQ(matmul(zeros({5, 1, 2, 3}), zeros({4, 3, 6})).shape(), (Shape{5, 4, 2, 6}));
  expect_near(addmm(ones({2, 4}), a, b, 1, 2), {22, 25, 28, 31, 58, 70, 82, 94});
  expect_near(einsum("ij,jk->ki", {a, b}), {20, 56, 23, 68, 26, 80, 29, 92});
  expect_near(einsum("ii", {reshape(astype(arange(9), float32), {3, 3})}), {12});
  expect_near(einsum("i,j,ij->", {array({1.0F, 2.0F}), array({1.0F, 0.0F, 1.0F}), a}), {18});
  expect_near(outer(array({1.0F, 2.0F}), array({3.0F, 4.0F})), {3, 4, 6, 8});
  expect_near(inner(a, a), {5, 14, 14, 50});
  expect_near(kron(array({1.0F, 2.0F}), array({1.0F, 10.0F})), {1, 10, 2, 20});
  expect_near(tensordot(a, b, {1}, {0}), {20, 23, 26, 29, 56, 68, 80, 92});
  expect_near(conv1d(array({1.0F, 2.0F, 3.0F, 4.0F}, Shape{1, 4, 1}), array({1.0F, 10.0F}, Shape{1, 2, 1})),
              {21, 32, 43});
  expect_near(conv1d(array({1.0F, 2.0F, 3.0F, 4.0F}, Shape{1, 2, 2}), array({1.0F, 10.0F}, Shape{2, 1, 1}), 1, 0, 1, 2),
              {1, 20, 3, 40});
}

TEST(ArraysOps, FaultsAreSentences) {
  EXPECT_EQ(fault_of([] { array({1, 2}) + array({1, 2, 3}); }),
            "add: found the shapes (2,) and (3,), which can't be broadcast");
  EXPECT_EQ(fault_of([] { reshape(arange(6), {4}); }), "reshape: found 6 elements, expected 4 for the shape (4,)");
  EXPECT_EQ(fault_of([] { sum(arange(6), 1); }), "sum: found axis 1, expected one of an array of 1 dimensions");
  EXPECT_EQ(fault_of([] { matmul(zeros({2, 3}), zeros({2, 3})); }),
            "matmul: found the shapes (2, 3) and (2, 3), whose inner extents differ");
  EXPECT_EQ(fault_of([] { matmul(arange(2), arange(2)); }), "matmul: found int32 and int32, expected floats");
  EXPECT_EQ(fault_of([] { arange(6).item<int>(); }), "item: found an array of shape (6,), expected one element");
  EXPECT_EQ(fault_of([] { array({1, 2}, Shape{3}); }), "array: found 2 elements, expected 3 for the shape (3,)");
  EXPECT_EQ(fault_of([] { einsum("ij,jk", {zeros({2, 3})}); }), "einsum: found 1 operands for \"ij,jk\"");
  EXPECT_EQ(fault_of([] { random::uniform({2}, float64); }),
            "uniform: found float64, expected float32, float16 or bfloat16");
}

TEST(ArraysOps, TextIsNumPys) {
  std::ostringstream out;
  out << array({1, 2, 3, 4}, Shape{2, 2}) << ' ' << array({true, false}) << ' ' << array(1.5F) << ' ' << bfloat16;
  EXPECT_EQ(out.str(),
            "array([[1, 2],\n       [3, 4]], dtype=int32) array([True, False], dtype=bool) array(1.5, dtype=float32) "
            "bfloat16");
  std::ostringstream longer;
  longer << arange(2000);
  EXPECT_EQ(longer.str(), "array([0, 1, 2, ..., 1997, 1998, 1999], dtype=int32)");
}

TEST(ArraysOps, EmptyArraysAreArrays) {
  EXPECT_EQ(zeros({0, 3}).size(), 0U);
  EXPECT_EQ(sum(zeros({0, 3})).item<float>(), 0);
  EXPECT_EQ(elements<float>(zeros({0}) + 1.0F).size(), 0U);
  EXPECT_EQ(concatenate({zeros({0, 2}), ones({1, 2})}, 0).shape(), (Shape{1, 2}));
  EXPECT_EQ(fault_of([] { max(zeros({0})); }), "max: found an array of shape (0,), which has nothing to choose from");
}

}  // namespace
}  // namespace lowtide
