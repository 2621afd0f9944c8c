// Derivatives beside differences of values, batches beside loops; nested ones too.
#include <functional>

#include "support.h"

namespace lowtide {
namespace {

struct Case {
  const char* name;
  OneToOne fun;
  Shape shape = {3, 4};
  double low = -0.9, high = 0.9;
};

/// Functions whose derivative exists where they are asked, in double precision.
const std::vector<Case>& cases() {
  static const array kWeights = astype(random::normal({4, 5}, random::key(11)), float64);
  static const array kOrder = array({2, 0, 1, 2});
  static const std::vector<Case> kCases = {
      {"abs", [](const array& x) { return abs(x); }, {3, 4}, 0.1, 1},
      {"exp", [](const array& x) { return exp(x); }},
      {"expm1", [](const array& x) { return expm1(x); }},
      {"log", [](const array& x) { return log(x); }, {3, 4}, 0.2, 2},
      {"log1p", [](const array& x) { return log1p(x); }},
      {"sqrt", [](const array& x) { return sqrt(x); }, {3, 4}, 0.2, 2},
      {"rsqrt", [](const array& x) { return rsqrt(x); }, {3, 4}, 0.2, 2},
      {"reciprocal", [](const array& x) { return reciprocal(x); }, {3, 4}, 0.2, 2},
      {"sin", [](const array& x) { return sin(x); }},
      {"cos", [](const array& x) { return cos(x); }},
      {"tan", [](const array& x) { return tan(x); }},
      {"arcsin", [](const array& x) { return arcsin(x); }},
      {"arccos", [](const array& x) { return arccos(x); }},
      {"arctan", [](const array& x) { return arctan(x); }},
      {"sinh", [](const array& x) { return sinh(x); }},
      {"cosh", [](const array& x) { return cosh(x); }},
      {"tanh", [](const array& x) { return tanh(x); }},
      {"arcsinh", [](const array& x) { return arcsinh(x); }},
      {"arccosh", [](const array& x) { return arccosh(x); }, {3, 4}, 1.2, 2},
      {"arctanh", [](const array& x) { return arctanh(x); }},
      {"sigmoid", [](const array& x) { return sigmoid(x); }},
      {"erf", [](const array& x) { return erf(x); }},
      {"square", [](const array& x) { return square(x); }},
      {"operators", [](const array& x) { return x * x / (x + array(3.0, float64)) - x; }},
      {"power", [](const array& x) { return power(x, x + array(2.0, float64)); }, {3, 4}, 0.2, 2},
      {"maximum", [](const array& x) { return maximum(x, flip(x, 1)) * minimum(x, array(0.25, float64)); }},
      {"where", [](const array& x) { return where(greater(x, array(0.1, float64)), x * x, sin(x)); }},
      {"arctan2", [](const array& x) { return arctan2(x, x * x + array(1.0, float64)); }},
      {"logaddexp", [](const array& x) { return logaddexp(x, x * x); }},
      {"broadcast",
       [](const array& x) { return broadcast_to(x, {2, 3, 4}) * broadcast_to(sum(x, 1, true), {2, 3, 4}); }},
      {"transpose", [](const array& x) { return matmul(transpose(x), x); }},
      {"reshape", [](const array& x) { return reshape(x * x, {2, 6}); }},
      {"slice", [](const array& x) { return slice(x * x, {0, 1}, {3, 4}, {2, 2}); }},
      {"backwards", [](const array& x) { return slice(x * x, {2, 3}, {-4, 0}, {-1, -2}); }},
      {"pad", [](const array& x) { return pad(x, {{1, 0}, {2, 1}}, array(2.0, float64)) * array(3.0, float64); }},
      {"concatenate", [](const array& x) { return concatenate({x, x * x}, 1); }},
      {"stack", [](const array& x) { return stack({x, x * x}, 1); }},
      {"flip", [](const array& x) { return flip(x * x, 0); }},
      {"roll", [](const array& x) { return roll(x * x, 1, 1); }},
      {"tile", [](const array& x) { return tile(x, {2, 2}) * repeat(repeat(x, 2, 0), 2, 1); }},
      {"sum", [](const array& x) { return sum(x * x, 1); }},
      {"mean", [](const array& x) { return mean(x * x, {0, 1}, true); }},
      {"var", [](const array& x) { return var(x, 1); }},
      {"prod", [](const array& x) { return prod(x, 1); }, {3, 4}, 0.2, 2},
      {"max", [](const array& x) { return max(x, 1); }},
      {"min", [](const array& x) { return min(x, 0); }},
      {"logsumexp", [](const array& x) { return logsumexp(x, 1); }},
      {"softmax", [](const array& x) { return softmax(x, 1); }},
      {"cumsum", [](const array& x) { return cumsum(x * x, 1); }},
      {"cumsum backwards", [](const array& x) { return cumsum(x * x, 0, true, false); }},
      {"cumprod", [](const array& x) { return cumprod(x, 1); }, {3, 4}, 0.2, 2},
      {"cummax", [](const array& x) { return cummax(x, 1); }},
      {"logcumsumexp", [](const array& x) { return logcumsumexp(x, 1); }},
      {"sort", [](const array& x) { return sort(x, 1) * sort(x, 0); }},
      {"matmul", [](const array& x) { return matmul(x, kWeights); }},
      {"batched matmul", [](const array& x) { return matmul(x, transpose(x, {0, 2, 1})); }, {2, 3, 4}},
      {"einsum", [](const array& x) { return einsum("ij,jk,ik->k", {x, kWeights, matmul(x, kWeights)}); }},
      {"take", [](const array& x) { return take(x * x, kOrder, 0); }},
      {"take along", [](const array& x) { return take_along_axis(x * x, argsort(x, 1), 1); }},
      {"gather", [](const array& x) { return gather(x * x, {array({0, 2}), array({1, 1})}, {0, 1}, {1, 2}); }},
      {"scatter",
       [](const array& x) { return scatter(x * x, array({2, 0}), reshape(slice(x, {0, 0}, {2, 4}), {2, 1, 4}), 0); }},
      {"scatter add",
       [](const array& x) {
         return scatter_add(x * x, array({2, 2}), reshape(slice(x, {0, 0}, {2, 4}), {2, 1, 4}), 0);
       }},
      {"put along",
       [](const array& x) { return put_along_axis(x * x, array({1, 0, 3}, Shape{3, 1}), sum(x, 1, true), 1); }},
      {"update", [](const array& x) { return slice_update(x * x, sin(slice(x, {0, 0}, {2, 2})), {1, 1}, {3, 3}); }},
      {"update add",
       [](const array& x) { return slice_update_add(x * x, slice(x, {0, 0}, {2, 4}), {0, 0}, {3, 4}, {2, 1}); }},
      {"slice at", [](const array& x) { return slice(x * x, array({1}), {0}, {2, 4}); }},
      {"diagonal", [](const array& x) { return diagonal(x * x, 1); }},
      {"conv1d",
       [](const array& x) { return conv1d(x, reshape(slice(x, {0, 0, 0}, {1, 3, 4}), {1, 3, 4}), 1, 1); },
       {2, 5, 4}},
      {"conv strided",
       [](const array& x) {
         return conv_general(x, reshape(slice(x, {0, 0, 0}, {2, 3, 4}), {6, 2, 2}), {2}, {1}, {2}, {2}, {1}, 2, true);
       },
       {2, 6, 4}},
      {"conv2d",
       [](const array& x) {
         return conv2d(x, reshape(slice(x, {0, 0, 0, 0}, {1, 2, 3, 2}), {1, 2, 3, 2}), {2, 1}, {1, 0});
       },
       {1, 4, 4, 2}},
  };
  return kCases;
}

array numbers(const Shape& shape, uint64_t seed, double low = -1, double high = 1) {
  return astype(random::uniform(static_cast<float>(low), static_cast<float>(high), shape, float32, random::key(seed)),
                float64);
}

/// Several cases' pairs of numbers, which must agree, from one program each.
class Pairs {
 public:
  explicit Pairs(double tolerance) : tolerance_(tolerance) {}
  ~Pairs() { check(); }
  void add(const char* name, const array& found, const array& expected) {
    names_.push_back(name);
    numbers_.push_back(found);
    numbers_.push_back(expected);
    check();
  }

 private:
  void check() {
    eval(numbers_);
    for (size_t k = 0; k < names_.size(); ++k) {
      const double expected = numbers_[2 * k + 1].item<double>();
      EXPECT_NEAR(numbers_[2 * k].item<double>(), expected, tolerance_ * (1 + std::fabs(expected))) << names_[k];
    }
    names_.clear();
    numbers_.clear();
  }
  double tolerance_;
  std::vector<const char*> names_;
  std::vector<array> numbers_;
};

TEST(ArraysTransforms, DerivativesAreWhatDifferencesComeTo) {
  Pairs pairs(1e-6);
  for (const Case& c : cases()) {
    const array x = numbers(c.shape, 5, c.low, c.high), v = numbers(c.shape, 6);
    const array w = numbers(c.fun(x).shape(), 7), h = array(1e-5, float64);
    const array by_values = sum((c.fun(x + h * v) - c.fun(x - h * v)) * w) / (array(2.0, float64) * h);
    pairs.add(c.name, sum(vjp(c.fun, x, w).second * v), by_values);
    pairs.add(c.name, sum(jvp(c.fun, x, v).second * w), by_values);
  }
}

TEST(ArraysTransforms, SecondDerivativesToo) {
  Pairs pairs(1e-5);
  for (size_t k = 0; k < cases().size(); k += 2) {  // the others are batched below
    const Case& c = cases()[k];
    const array x = numbers(c.shape, 5, c.low, c.high), v = numbers(c.shape, 6), h = array(1e-5, float64);
    const array w = numbers(c.fun(x).shape(), 7);
    const OneToOne slope = [&](const array& at) { return vjp(c.fun, at, w).second; };
    pairs.add(c.name, sum(vjp(slope, x, v).second * v),
              sum((slope(x + h * v) - slope(x - h * v)) * v) / (array(2.0, float64) * h));
  }
}

TEST(ArraysTransforms, AWrongDerivativeWouldBeSeen) {  // the control of both above
  const array x = numbers({3, 4}, 5), v = numbers({3, 4}, 6), h = array(1e-5, float64);
  const auto f = [](const array& a) { return a * stop_gradient(a); };
  const array by_values = sum(f(x + h * v) - f(x - h * v)) / (array(2.0, float64) * h);
  EXPECT_GT(
      std::fabs(sum(vjp(OneToOne(f), x, ones({3, 4}, float64)).second * v).item<double>() - by_values.item<double>()),
      0.01);
}

/// How far two arrays are from each other, beside their size.
array distance(const array& a, const array& b) { return max(abs(a - b)) / (max(abs(b)) + array(1.0, float64)); }

TEST(ArraysTransforms, BatchesAreLoops) {
  Pairs pairs(1e-9);
  for (const Case& c : cases()) {
    Shape shape = c.shape;
    shape.insert(shape.begin() + 1, 2);  // the batch is the second dimension, and the last of the result
    const array x = numbers(shape, 8, c.low, c.high);
    const array batched = vmap(c.fun, 1, static_cast<int>(c.fun(take(x, 0, 1)).ndim()))(x);
    const array each = stack({c.fun(take(x, 0, 1)), c.fun(take(x, 1, 1))}, -1);
    ASSERT_EQ(batched.shape(), each.shape()) << c.name;
    pairs.add(c.name, distance(batched, each), array(0.0, float64));
  }
}

TEST(ArraysTransforms, BatchesOfDerivativesAreLoops) {
  Pairs pairs(1e-9);
  for (size_t k = 1; k < cases().size(); k += 2) {
    const Case& c = cases()[k];
    Shape shape = c.shape;
    shape.insert(shape.begin(), 2);
    const array x = numbers(shape, 9, c.low, c.high);
    const OneToOne slope = grad(OneToOne([&](const array& a) { return sum(sin(c.fun(a))); }));
    pairs.add(c.name, distance(vmap(slope)(x), stack({slope(take(x, 0, 0)), slope(take(x, 1, 0))})),
              array(0.0, float64));
  }
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

}  // namespace
}  // namespace lowtide
