// Elementwise functions: a table of them, and the few that take more than arrays.
#include "bind.h"

namespace lowtide::python {
namespace {

template <class F>
struct Row {
  const char* name;
  F f;
  const char* doc;
};
constexpr Row<Unary> kUnary[] = {
    {"abs", abs, "Sizes; float32 of complex64."},
    {"positive", positive, "The same elements."},
    {"negative", negative, "-a"},
    {"sign", sign, "-1, 0 or 1; of complex numbers a / |a|."},
    {"ceil", ceil, "The nearest integer from above, of the same type."},
    {"floor", floor, "The nearest integer from below, of the same type."},
    {"trunc", trunc, "The nearest integer towards 0, of the same type."},
    {"square", square, "a * a"},
    {"sqrt", sqrt, "The root; NaN below 0."},
    {"rsqrt", rsqrt, "1 / sqrt(a)"},
    {"reciprocal", reciprocal, "1 / a"},
    {"exp", exp, "e to the power of a."},
    {"expm1", expm1, "exp(a) - 1, exact for small a."},
    {"log", log, "The natural logarithm; NaN below 0."},
    {"log2", log2, "The logarithm to base 2."},
    {"log10", log10, "The logarithm to base 10."},
    {"log1p", log1p, "log(1 + a), exact for small a."},
    {"sin", sin, "The sine of an angle."},
    {"cos", cos, "The cosine of an angle."},
    {"tan", tan, "The tangent of an angle."},
    {"arcsin", arcsin, "The angle of a sine; NaN outside of [-1, 1]."},
    {"arccos", arccos, "The angle of a cosine; NaN outside of [-1, 1]."},
    {"arctan", arctan, "The angle of a tangent."},
    {"sinh", sinh, "The hyperbolic sine."},
    {"cosh", cosh, "The hyperbolic cosine."},
    {"tanh", tanh, "The hyperbolic tangent."},
    {"arcsinh", arcsinh, "The inverse of sinh."},
    {"arccosh", arccosh, "The inverse of cosh; NaN below 1."},
    {"arctanh", arctanh, "The inverse of tanh; NaN outside of [-1, 1]."},
    {"sigmoid", sigmoid, "1 / (1 + exp(-a))"},
    {"erf", erf, "The error function, MLX's bits."},
    {"erfinv", erfinv, "Its inverse, MLX's bits."},
    {"degrees", degrees, "Of radians."},
    {"radians", radians, "Of degrees."},
    {"logical_not", logical_not, "bool: is it 0?"},
    {"bitwise_invert", bitwise_invert, "All bits the other way; of booleans and integers."},
    {"isnan", isnan, "bool: is it NaN?"},
    {"isinf", isinf, "bool: is it infinite?"},
    {"isfinite", isfinite, "bool: is it neither infinite nor NaN?"},
    {"isposinf", isposinf, "bool: is it infinity?"},
    {"isneginf", isneginf, "bool: is it minus infinity?"},
    {"real", real, "The real part."},
    {"imag", imag, "The imaginary part."},
    {"conjugate", conjugate, "With the other sign of the imaginary part."},
};

constexpr Row<Binary> kBinary[] = {
    {"add", add, "a + b"},
    {"subtract", subtract, "a - b"},
    {"multiply", multiply, "a * b"},
    {"divide", divide, "a / b, float32 of integers."},
    {"floor_divide", floor_divide, "The largest integer up to a / b."},
    {"remainder", remainder, "a - b * floor(a / b), whose sign is b's."},
    {"power", power, "a to the power of b."},
    {"maximum", maximum, "The larger one; NaN where one is."},
    {"minimum", minimum, "The smaller one; NaN where one is."},
    {"logaddexp", logaddexp, "log(exp(a) + exp(b)), without overflow."},
    {"arctan2", arctan2, "The angle of the point (b, a)."},
    {"equal", equal, "bool: a == b"},
    {"not_equal", not_equal, "bool: a != b"},
    {"less", less, "bool: a < b"},
    {"less_equal", less_equal, "bool: a <= b"},
    {"greater", greater, "bool: a > b"},
    {"greater_equal", greater_equal, "bool: a >= b"},
    {"logical_and", logical_and, "bool: is neither 0?"},
    {"logical_or", logical_or, "bool: is one not 0?"},
    {"logical_xor", logical_xor, "bool: is exactly one not 0?"},
    {"bitwise_and", bitwise_and, "a & b, of booleans and integers."},
    {"bitwise_or", bitwise_or, "a | b, of booleans and integers."},
    {"bitwise_xor", bitwise_xor, "a ^ b, of booleans and integers."},
    {"left_shift", left_shift, "a << b, of integers."},
    {"right_shift", right_shift, "a >> b, of integers."},
};

array where_of(const ArrayLike& condition, const ArrayLike& x, const ArrayLike& y) {
  const array c = array_of(condition);
  const auto [a, b] = operands(x, y);
  return unlocked([&, &first = a, &second = b] { return where(c, first, second); });
}

array clip_of(const ArrayLike& a, const std::optional<ArrayLike>& low, const std::optional<ArrayLike>& high) {
  const array x = array_of(a);
  const auto bound = [&](const std::optional<ArrayLike>& like) {
    return like ? std::optional(array_of(*like, x.dtype())) : std::nullopt;
  };
  const std::optional<array> least = bound(low), most = bound(high);
  return unlocked([&] { return clip(x, least, most); });
}

}  // namespace

void bind_elementwise(nb::module_& m, Class& of) {
  for (const Row<Unary>& row : kUnary) unary(m, row.name, row.f, row.doc);
  for (const Row<Binary>& row : kBinary) binary(m, row.name, row.f, row.doc);
  m.def("divmod", of_arrays([](const array& a, const array& b) {
          std::vector<array> parts = divmod(a, b);
          return std::pair(parts[0], parts[1]);
        }),
        "a"_a, "b"_a, "(floor_divide(a, b), remainder(a, b))");
  m.def("where", &where_of, "condition"_a, "x"_a, "y"_a, "x where the condition isn't 0, else y.");
  both(m, of, "round", of_array<int>([](const array& a, int decimals) { return round(a, decimals); }), "decimals"_a = 0,
       "To so many decimals; halves go to even ones.");
  both(m, of, "clip", &clip_of, "a_min"_a = nb::none(), "a_max"_a = nb::none(), "Not below a_min, not above a_max.");
  both(m, of, "conj", of_array([](const array& a) { return conjugate(a); }),
       "With the other sign of the imaginary part.");
  m.def("nan_to_num",
        of_array<float, std::optional<float>, std::optional<float>>(
            [](const array& a, float nan, std::optional<float> high, std::optional<float> low) {
              return nan_to_num(a, nan, high, low);
            }),
        "a"_a, "nan"_a = 0.0F, "posinf"_a = nb::none(), "neginf"_a = nb::none(),
        "Numbers for NaN and infinities: the type's largest ones where none are stated.");
  const auto compared = [&](const char* name, auto f, const char* doc) {
    m.def(name, of_arrays<double, double, bool>(f), "a"_a, "b"_a, "rtol"_a = 1e-5, "atol"_a = 1e-8,
          "equal_nan"_a = false, doc);
  };
  compared(
      "isclose", [](const array& a, const array& b, double r, double t, bool n) { return isclose(a, b, r, t, n); },
      "bool: |a - b| <= atol + rtol |b|");
  compared(
      "allclose", [](const array& a, const array& b, double r, double t, bool n) { return allclose(a, b, r, t, n); },
      "One bool: is each isclose()?");
  m.def("array_equal", of_arrays<bool>([](const array& a, const array& b, bool nan) { return array_equal(a, b, nan); }),
        "a"_a, "b"_a, "equal_nan"_a = false, "One bool: are shapes and elements the same?");
}

}  // namespace lowtide::python
