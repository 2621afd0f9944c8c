// Transforms of functions, nested and of several arguments; what each operation gives to them is every_op_test.cpp's.
#include <functional>

#include "support.h"

namespace lowtide {
namespace {

array numbers(const Shape& shape, uint64_t seed, double low = -1, double high = 1) {
  return astype(random::uniform(static_cast<float>(low), static_cast<float>(high), shape, float32, random::key(seed)),
                float64);
}

TEST(ArraysTransforms, ArgumentsWithoutAxesAreTheSameForAll) {
  const auto both = vmap(
      std::function<array(const array&, const array&)>([](const array& a, const array& b) { return matmul(a, b); }), 0,
      -1);
  const array a = numbers({3, 2, 4}, 1), b = numbers({4, 5}, 2);
  EXPECT_TRUE(allclose(both(a, b), matmul(a, b)).item<bool>());
  const auto other = vmap(
      std::function<array(const array&, const array&)>([](const array& x, const array& y) { return matmul(x, y); }), -1,
      0, 1);
  const array c = numbers({3, 4, 5}, 3), d = numbers({2, 4}, 4);
  EXPECT_TRUE(allclose(other(d, c), moveaxis(matmul(d, c), 0, 1)).item<bool>());
}

TEST(ArraysTransforms, GradientsOfSeveralArguments) {
  const auto loss = [](const std::vector<array>& in) { return mean(square(matmul(in[0], in[1]) - in[2])); };
  const array x = numbers({6, 3}, 1), w = numbers({3, 2}, 2), y = numbers({6, 2}, 3);
  const auto [value, gradients] = value_and_grad(ManyToOne(loss), {1, 0})({x, w, y});
  const array rest = (matmul(x, w) - y) / array(6.0, float64);
  eval(value, gradients[0], gradients[1]);
  EXPECT_TRUE(allclose(gradients[0], matmul(transpose(x), rest), 1e-9, 1e-12).item<bool>());
  EXPECT_TRUE(allclose(gradients[1], matmul(rest, transpose(w)), 1e-9, 1e-12).item<bool>());
  EXPECT_NEAR(value.item<double>(), mean(square(rest * array(6.0, float64))).item<double>(), 1e-9);
}

TEST(ArraysTransforms, ValuesMayBeReadWhileAFunctionIsDifferentiated) {
  const auto f = [](const array& x) { return x.item<float>() > 0 ? x * x : negative(x); };
  EXPECT_EQ(grad(OneToOne(f))(array(3.0F)).item<float>(), 6.0F);
  EXPECT_EQ(grad(OneToOne(f))(array(-3.0F)).item<float>(), -1.0F);
  EXPECT_EQ(grad(grad(OneToOne([](const array& x) { return x * x * x; })))(array(2.0F)).item<float>(), 12.0F);
  const array x = array(2.0F);
  array y = x * x;
  eval(y);
  EXPECT_EQ(grad(OneToOne([&](const array& z) { return z * y; }))(x).item<float>(), 4.0F);
}

TEST(ArraysTransforms, TracedFunctionsAreTheFunctions) {
  const array x = numbers({4, 4}, 1), w = numbers({4, 4}, 2);
  const ManyToMany layer = [&](const std::vector<array>& in) {
    return std::vector<array>{tanh(matmul(in[0], in[1])), sum(matmul(in[0], w))};
  };
  int calls = 0;
  const ManyToMany counted = [&](const std::vector<array>& in) {
    ++calls;
    return layer(in);
  };
  const ManyToMany once = compile(counted);
  const auto loss = [](const ManyToMany& f) {
    return ManyToOne([f](const std::vector<array>& in) { return sum(f({f(in)[0], in[1]})[0]) + f(in)[1]; });
  };
  const auto plain = grad(loss(layer), {0, 1})({x, w});
  for (const ManyToMany& f : {once, checkpoint(layer)}) {
    const auto other = grad(loss(f), {0, 1})({x, w});
    EXPECT_TRUE(allclose(other[0], plain[0], 1e-9, 1e-12).item<bool>());
    EXPECT_TRUE(allclose(other[1], plain[1], 1e-9, 1e-12).item<bool>());
    const array batched = vmap(f, {0, -1}, {0, 0})({stack({x, x + array(1.0, float64)}), w})[0];
    EXPECT_TRUE(allclose(take(batched, 1, 0), layer({x + array(1.0, float64), w})[0], 1e-9, 1e-12).item<bool>());
  }
  EXPECT_EQ(calls, 1);
  once({numbers({5, 4}, 1), w});  // the control: another shape is traced anew
  EXPECT_EQ(calls, 2);
}

TEST(ArraysTransforms, ADerivativeMayBeTheCallers) {
  const ManyToMany clipped =
      custom_vjp([](const std::vector<array>& in) { return std::vector<array>{in[0] * in[0]}; },
                 [](const std::vector<array>& in, const std::vector<array>& c, const std::vector<array>&) {
                   return std::vector<array>{c[0] * minimum(in[0], array(1.0F))};
                 });
  const auto slope = grad(OneToOne([&](const array& x) { return sum(clipped({x})[0]); }));
  expect_near(slope(array({0.5F, 3.0F})), {0.5F, 1});
  expect_near(vmap(slope)(array({0.5F, 3.0F}, Shape{2, 1})), {0.5F, 1});
}

TEST(ArraysTransforms, FaultsAreSentences) {
  EXPECT_EQ(fault_of([] { grad(OneToOne([](const array& x) { return x * x; }))(zeros({2})); }),
            "grad: found a first result of shape (2,), expected a scalar");
  EXPECT_EQ(fault_of([] { grad(OneToOne([](const array& x) { return sum(x); }))(arange(2)); }),
            "grad: found argument 0 of type int32, expected floats");
  EXPECT_EQ(fault_of([] { vmap({[](const std::vector<array>& in) { return in; }})({zeros({2}), zeros({3})}); }),
            "vmap: found extents 2 and 3 along the axes");
  EXPECT_NE(fault_of([] {
              vmap(OneToOne([](const array& x) { return array(x.item<float>()); }))(zeros({2}));
            }).find("has no elements"),
            std::string::npos);
}

TEST(ArraysTransforms, AConstantThatIsEvaluatedStaysOneOfFunctionsThatHaveIt) {
  const array all = ones({3});
  const auto next = compile([&](const std::vector<array>& in) { return std::vector<array>{in[0] + all}; });
  const array x({1.0F, 2.0F, 3.0F});
  expect_near(next({x})[0], {2, 3, 4});
  eval(all);
  expect_near(next({x})[0], {2, 3, 4});
}

}  // namespace
}  // namespace lowtide
