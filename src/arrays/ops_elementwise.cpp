// Elementwise operations.
#include <algorithm>
#include <cmath>
#include <limits>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace lazy {

Dims axes_of(std::string_view operation, const std::vector<int>& axes, size_t rank) {
  Dims found;
  for (const int axis : axes) found.push_back(axis_of(operation, axis, rank));
  std::ranges::sort(found);
  if (std::ranges::adjacent_find(found) != found.end()) fault(operation, "found an axis twice");
  return found;
}

Shape broadcast_shape(std::string_view operation, const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape shape(rank);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t x = d + a.size() < rank ? 1 : a[d + a.size() - rank],
                  y = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (x != y && x != 1 && y != 1)
      fault(operation, "found the shapes {} and {}, which can't be broadcast", to_string(a), to_string(b));
    shape[d] = x == 1 ? y : x;
  }
  return shape;
}

array broadcast_as(std::string_view operation, const array& a, const Shape& shape, StreamOrDevice s) {
  if (a.shape() == shape) return a;
  if (a.ndim() > shape.size() || broadcast_shape(operation, a.shape(), shape) != shape)
    fault(operation, "found an array of shape {}, expected one that can be broadcast to {}", to_string(a.shape()),
          to_string(shape));
  Dims dimensions;
  for (size_t d = 0; d < a.ndim(); ++d) dimensions.push_back(static_cast<int64_t>(d + shape.size() - a.ndim()));
  return broadcast_in(a, shape, dimensions, s);
}

array as_type(const array& a, Dtype dtype, StreamOrDevice s) {
  return a.dtype().val == dtype.val ? a : elementwise(Op::kConvert, {a}, dtype, s);
}

}  // namespace lazy

namespace {

/// Converts both to this type, and broadcasts them to one shape.
std::pair<array, array> matched(std::string_view name, const array& a, const array& b, Dtype dtype, StreamOrDevice s) {
  const Shape shape = broadcast_shape(name, a.shape(), b.shape());
  return {broadcast_as(name, as_type(a, dtype, s), shape, s), broadcast_as(name, as_type(b, dtype, s), shape, s)};
}

array binary(std::string_view name, Op op, const array& a, const array& b, StreamOrDevice s) {
  const Dtype dtype = promote_types(a.dtype(), b.dtype());
  auto [x, y] = matched(name, a, b, dtype, s);
  return elementwise(op, {std::move(x), std::move(y)}, dtype, s);
}

array comparison(std::string_view name, Op op, const array& a, const array& b, StreamOrDevice s) {
  auto [x, y] = matched(name, a, b, promote_types(a.dtype(), b.dtype()), s);
  if (x.dtype().val == Dtype::Val::complex64 && op != Op::kEq && op != Op::kNe) {
    // Complex numbers are ordered by real parts, and if these are equal by imaginary parts.
    const array a_part = real(x, s), b_part = real(y, s);
    const array apart = elementwise(op == Op::kLt || op == Op::kLe ? Op::kLt : Op::kGt, {a_part, b_part}, bool_, s);
    const array beside = elementwise(op, {imag(x, s), imag(y, s)}, bool_, s);
    return logical_or(apart, logical_and(equal(a_part, b_part, s), beside, s), s);
  }
  return elementwise(op, {std::move(x), std::move(y)}, bool_, s);
}

array function_of(Op op, const array& a, StreamOrDevice s) {
  const array x = to_float(a, s);
  return elementwise(op, {x}, x.dtype(), s);
}
array real_function_of(std::string_view name, Op op, const array& a, StreamOrDevice s) {
  const array x = to_float(a, s);
  if (x.dtype().val == Dtype::Val::complex64) fault(name, "found complex64, expected real numbers");
  return elementwise(op, {x}, x.dtype(), s);
}

array number_of(double value, const array& like, StreamOrDevice s) {
  return constant(value, like.dtype(), like.shape(), s);
}
array boolean(const array& a, StreamOrDevice s) {
  return a.dtype().val == Dtype::Val::bool_ ? a : elementwise(Op::kNe, {a, number_of(0, a, s)}, bool_, s);
}
bool is_float(const array& a) { return issubdtype(a.dtype(), inexact); }

}  // namespace

array abs(const array& a, StreamOrDevice s) {
  if (a.dtype().val == Dtype::Val::complex64) return elementwise(Op::kAbs, {a}, float32, s);
  return issubdtype(a.dtype(), unsignedinteger) || a.dtype().val == Dtype::Val::bool_ ? a : elementwise(Op::kAbs, a, s);
}
array positive(const array& a, StreamOrDevice s) { return copy(a, s); }
array negative(const array& a, StreamOrDevice s) {
  if (a.dtype().val == Dtype::Val::bool_) fault("negative", "found booleans; logical_not negates them");
  return elementwise(Op::kNegate, a, s);
}
array sign(const array& a, StreamOrDevice s) {
  if (issubdtype(a.dtype(), unsignedinteger) || a.dtype().val == Dtype::Val::bool_)
    return as_type(boolean(a, s), a.dtype(), s);
  return elementwise(Op::kSign, a, s);
}
namespace {
void check_real(std::string_view name, const array& a) {
  if (a.dtype().val == Dtype::Val::complex64) fault(name, "found complex64, expected real numbers");
}
}  // namespace
array ceil(const array& a, StreamOrDevice s) {
  check_real("ceil", a);
  return is_float(a) ? elementwise(Op::kCeil, a, s) : a;
}
array floor(const array& a, StreamOrDevice s) {
  check_real("floor", a);
  return is_float(a) ? elementwise(Op::kFloor, a, s) : a;
}
array trunc(const array& a, StreamOrDevice s) {
  check_real("trunc", a);
  return is_float(a) ? where(less(a, number_of(0, a, s), s), ceil(a, s), floor(a, s), s) : a;
}
array round(const array& a, int decimals, StreamOrDevice s) {
  if (a.dtype().val == Dtype::Val::complex64)
    return elementwise(Op::kComplex, {round(real(a, s), decimals, s), round(imag(a, s), decimals, s)}, complex64, s);
  if (decimals == 0) return is_float(a) ? elementwise(Op::kRound, a, s) : a;
  const array x = to_float(a, s);
  const array scale = number_of(std::pow(10.0, std::abs(decimals)), x, s);
  const array moved = elementwise(Op::kRound, decimals > 0 ? x * scale : x / scale, s);
  return as_type(decimals > 0 ? moved / scale : moved * scale, a.dtype(), s);
}
array square(const array& a, StreamOrDevice s) { return multiply(a, a, s); }
array sqrt(const array& a, StreamOrDevice s) { return function_of(Op::kSqrt, a, s); }
array rsqrt(const array& a, StreamOrDevice s) { return function_of(Op::kRsqrt, a, s); }
array reciprocal(const array& a, StreamOrDevice s) {
  const array x = to_float(a, s);
  return elementwise(Op::kDivide, {number_of(1, x, s), x}, x.dtype(), s);
}
array exp(const array& a, StreamOrDevice s) { return function_of(Op::kExp, a, s); }
array expm1(const array& a, StreamOrDevice s) { return function_of(Op::kExpm1, a, s); }
array log(const array& a, StreamOrDevice s) { return function_of(Op::kLog, a, s); }
array log2(const array& a, StreamOrDevice s) {
  const array y = log(a, s);
  return elementwise(Op::kDivide, {y, number_of(M_LN2, y, s)}, y.dtype(), s);
}
array log10(const array& a, StreamOrDevice s) {
  const array y = log(a, s);
  return elementwise(Op::kDivide, {y, number_of(M_LN10, y, s)}, y.dtype(), s);
}
array log1p(const array& a, StreamOrDevice s) { return function_of(Op::kLog1p, a, s); }
array sin(const array& a, StreamOrDevice s) { return function_of(Op::kSin, a, s); }
array cos(const array& a, StreamOrDevice s) { return function_of(Op::kCos, a, s); }
array tan(const array& a, StreamOrDevice s) { return function_of(Op::kTan, a, s); }
array arcsin(const array& a, StreamOrDevice s) { return function_of(Op::kAsin, a, s); }
array arccos(const array& a, StreamOrDevice s) { return function_of(Op::kAcos, a, s); }
array arctan(const array& a, StreamOrDevice s) { return function_of(Op::kAtan, a, s); }
array sinh(const array& a, StreamOrDevice s) { return function_of(Op::kSinh, a, s); }
array cosh(const array& a, StreamOrDevice s) { return function_of(Op::kCosh, a, s); }
array tanh(const array& a, StreamOrDevice s) { return function_of(Op::kTanh, a, s); }
array arcsinh(const array& a, StreamOrDevice s) { return function_of(Op::kAsinh, a, s); }
array arccosh(const array& a, StreamOrDevice s) { return function_of(Op::kAcosh, a, s); }
array arctanh(const array& a, StreamOrDevice s) { return function_of(Op::kAtanh, a, s); }
array sigmoid(const array& a, StreamOrDevice s) { return function_of(Op::kLogistic, a, s); }
array erf(const array& a, StreamOrDevice s) {
  return real_function_of("erf", a.dtype().val == Dtype::Val::float64 ? Op::kErf : Op::kErfOfGolden, a, s);
}
array erfinv(const array& a, StreamOrDevice s) { return real_function_of("erfinv", Op::kErfinv, a, s); }
array degrees(const array& a, StreamOrDevice s) {
  const array x = to_float(a, s);
  return x * number_of(180 / M_PI, x, s);
}
array radians(const array& a, StreamOrDevice s) {
  const array x = to_float(a, s);
  return x * number_of(M_PI / 180, x, s);
}
array logical_not(const array& a, StreamOrDevice s) { return elementwise(Op::kNot, boolean(a, s), s); }
array bitwise_invert(const array& a, StreamOrDevice s) {
  if (is_float(a)) fault("bitwise_invert", "found {}, expected integers or booleans", dtype_to_string(a.dtype()));
  return elementwise(Op::kNot, a, s);
}
array isnan(const array& a, StreamOrDevice s) {
  return is_float(a) ? elementwise(Op::kNe, {a, a}, bool_, s) : zeros(a.shape(), bool_, s);
}
array isfinite(const array& a, StreamOrDevice s) {
  if (!is_float(a)) return ones(a.shape(), bool_, s);
  if (a.dtype().val == Dtype::Val::complex64) return isfinite(real(a, s), s) && isfinite(imag(a, s), s);
  return elementwise(Op::kIsFinite, {a}, bool_, s);
}
array isposinf(const array& a, StreamOrDevice s) {
  return is_float(a) ? equal(a, number_of(INFINITY, a, s), s) : zeros(a.shape(), bool_, s);
}
array isneginf(const array& a, StreamOrDevice s) {
  return is_float(a) ? equal(a, number_of(-INFINITY, a, s), s) : zeros(a.shape(), bool_, s);
}
array isinf(const array& a, StreamOrDevice s) {
  if (a.dtype().val == Dtype::Val::complex64) return isinf(real(a, s), s) || isinf(imag(a, s), s);
  return logical_or(isposinf(a, s), isneginf(a, s), s);
}
array real(const array& a, StreamOrDevice s) {
  return a.dtype().val == Dtype::Val::complex64 ? elementwise(Op::kReal, {a}, float32, s) : a;
}
array imag(const array& a, StreamOrDevice s) {
  return a.dtype().val == Dtype::Val::complex64 ? elementwise(Op::kImag, {a}, float32, s) : zeros_like(a, s);
}
array conjugate(const array& a, StreamOrDevice s) {
  if (a.dtype().val != Dtype::Val::complex64) return a;
  return elementwise(Op::kComplex, {real(a, s), negative(imag(a, s), s)}, complex64, s);
}
array nan_to_num(const array& a, float nan, const std::optional<float> posinf, const std::optional<float> neginf,
                 StreamOrDevice s) {
  if (!is_float(a)) return a;
  const auto most = [&] {
    switch (a.dtype().val) {
      case Dtype::Val::float16: return 65504.0;
      case Dtype::Val::bfloat16: return static_cast<double>(0x1.FEp127F);
      case Dtype::Val::float64: return std::numeric_limits<double>::max();
      default: return static_cast<double>(std::numeric_limits<float>::max());
    }
  }();
  const array whole = where(isnan(a, s), number_of(nan, a, s), a, s);
  const array bounded = where(isposinf(a, s), number_of(posinf ? *posinf : most, a, s), whole, s);
  return where(isneginf(a, s), number_of(neginf ? *neginf : -most, a, s), bounded, s);
}
array clip(const array& a, const std::optional<array>& a_min, const std::optional<array>& a_max, StreamOrDevice s) {
  if (!a_min && !a_max) fault("clip", "found no bound");
  array result = as_type(a, a.dtype(), s);
  if (a_min) result = maximum(result, *a_min, s);
  if (a_max) result = minimum(result, *a_max, s);
  return result;
}

array add(const array& a, const array& b, StreamOrDevice s) {
  if (promote_types(a.dtype(), b.dtype()).val == Dtype::Val::bool_) return binary("add", Op::kOr, a, b, s);
  return binary("add", Op::kAdd, a, b, s);
}
array subtract(const array& a, const array& b, StreamOrDevice s) {
  if (promote_types(a.dtype(), b.dtype()).val == Dtype::Val::bool_) return binary("subtract", Op::kXor, a, b, s);
  return binary("subtract", Op::kSubtract, a, b, s);
}
array multiply(const array& a, const array& b, StreamOrDevice s) {
  if (promote_types(a.dtype(), b.dtype()).val == Dtype::Val::bool_) return binary("multiply", Op::kAnd, a, b, s);
  return binary("multiply", Op::kMultiply, a, b, s);
}
array divide(const array& a, const array& b, StreamOrDevice s) {
  const Dtype dtype = at_least_float(promote_types(a.dtype(), b.dtype()));
  return binary("divide", Op::kDivide, as_type(a, dtype, s), as_type(b, dtype, s), s);
}
array floor_divide(const array& a, const array& b, StreamOrDevice s) {
  auto [x, y] = matched("floor_divide", a, b, promote_types(a.dtype(), b.dtype()), s);
  const Dtype dtype = x.dtype();
  if (dtype.val == Dtype::Val::bool_) return elementwise(Op::kAnd, {x, y}, bool_, s);
  const array quotient = elementwise(Op::kDivide, {x, y}, dtype, s);
  if (issubdtype(dtype, floating)) return floor(quotient, s);
  if (!issubdtype(dtype, signedinteger)) return quotient;  // unsigned and complex numbers
  const array rest = elementwise(Op::kRemainder, {x, y}, dtype, s), zero = number_of(0, rest, s);
  const array is_below = logical_and(not_equal(rest, zero, s), not_equal(less(rest, zero, s), less(y, zero, s), s), s);
  return quotient - as_type(is_below, dtype, s);
}
array remainder(const array& a, const array& b, StreamOrDevice s) {
  auto [x, y] = matched("remainder", a, b, promote_types(a.dtype(), b.dtype()), s);
  check_real("remainder", x);
  if (x.dtype().val == Dtype::Val::bool_) return elementwise(Op::kAnd, {x, logical_not(y, s)}, bool_, s);
  const array rest = elementwise(Op::kRemainder, {x, y}, x.dtype(), s);
  if (issubdtype(x.dtype(), unsignedinteger)) return rest;
  const array zero = number_of(0, rest, s);
  const array other_sign =
      logical_and(not_equal(rest, zero, s), not_equal(less(rest, zero, s), less(y, zero, s), s), s);
  return where(other_sign, rest + y, rest, s);
}
std::vector<array> divmod(const array& a, const array& b, StreamOrDevice s) {
  return {floor_divide(a, b, s), remainder(a, b, s)};
}
array power(const array& a, const array& b, StreamOrDevice s) {
  if (promote_types(a.dtype(), b.dtype()).val == Dtype::Val::bool_) return logical_or(a, logical_not(b, s), s);
  return binary("power", Op::kPower, a, b, s);
}
array maximum(const array& a, const array& b, StreamOrDevice s) { return binary("maximum", Op::kMaximum, a, b, s); }
array minimum(const array& a, const array& b, StreamOrDevice s) { return binary("minimum", Op::kMinimum, a, b, s); }
array logaddexp(const array& a, const array& b, StreamOrDevice s) {
  const Dtype dtype = at_least_float(promote_types(a.dtype(), b.dtype()));
  auto [x, y] = matched("logaddexp", a, b, dtype, s);
  const array most = maximum(x, y, s), least = minimum(x, y, s);
  // The difference of two equal infinities would be NaN.
  const array shift = where(equal(most, least, s), number_of(0, most, s), least - most, s);
  return most + log1p(exp(shift, s), s);
}
array arctan2(const array& a, const array& b, StreamOrDevice s) {
  const Dtype dtype = at_least_float(promote_types(a.dtype(), b.dtype()));
  return binary("arctan2", Op::kAtan2, as_type(a, dtype, s), as_type(b, dtype, s), s);
}
array equal(const array& a, const array& b, StreamOrDevice s) { return comparison("equal", Op::kEq, a, b, s); }
array not_equal(const array& a, const array& b, StreamOrDevice s) { return comparison("not_equal", Op::kNe, a, b, s); }
array less(const array& a, const array& b, StreamOrDevice s) { return comparison("less", Op::kLt, a, b, s); }
array less_equal(const array& a, const array& b, StreamOrDevice s) {
  return comparison("less_equal", Op::kLe, a, b, s);
}
array greater(const array& a, const array& b, StreamOrDevice s) { return comparison("greater", Op::kGt, a, b, s); }
array greater_equal(const array& a, const array& b, StreamOrDevice s) {
  return comparison("greater_equal", Op::kGe, a, b, s);
}
array logical_and(const array& a, const array& b, StreamOrDevice s) {
  return binary("logical_and", Op::kAnd, boolean(a, s), boolean(b, s), s);
}
array logical_or(const array& a, const array& b, StreamOrDevice s) {
  return binary("logical_or", Op::kOr, boolean(a, s), boolean(b, s), s);
}
array logical_xor(const array& a, const array& b, StreamOrDevice s) {
  return binary("logical_xor", Op::kXor, boolean(a, s), boolean(b, s), s);
}

namespace {
array of_bits(std::string_view name, Op op, const array& a, const array& b, StreamOrDevice s) {
  if (is_float(a) || is_float(b))
    fault(name, "found {} and {}, expected integers or booleans", dtype_to_string(a.dtype()),
          dtype_to_string(b.dtype()));
  return binary(name, op, a, b, s);
}
}  // namespace
array bitwise_and(const array& a, const array& b, StreamOrDevice s) {
  return of_bits("bitwise_and", Op::kAnd, a, b, s);
}
array bitwise_or(const array& a, const array& b, StreamOrDevice s) { return of_bits("bitwise_or", Op::kOr, a, b, s); }
array bitwise_xor(const array& a, const array& b, StreamOrDevice s) {
  return of_bits("bitwise_xor", Op::kXor, a, b, s);
}
namespace {
array shifted(std::string_view name, Op op, const array& a, const array& b, StreamOrDevice s) {
  const Dtype dtype = promote_types(a.dtype(), b.dtype());
  if (dtype.val != Dtype::Val::bool_) return of_bits(name, op, a, b, s);
  return of_bits(name, op, as_type(a, uint8, s), as_type(b, uint8, s), s);
}
}  // namespace
array left_shift(const array& a, const array& b, StreamOrDevice s) {
  return shifted("left_shift", Op::kShiftLeft, a, b, s);
}
array right_shift(const array& a, const array& b, StreamOrDevice s) {
  return shifted("right_shift", Op::kShiftRight, a, b, s);
}

array where(const array& condition, const array& x, const array& y, StreamOrDevice s) {
  const Dtype dtype = promote_types(x.dtype(), y.dtype());
  const Shape shape = broadcast_shape("where", condition.shape(), broadcast_shape("where", x.shape(), y.shape()));
  const array chosen = boolean(condition, s);
  return elementwise(Op::kSelect,
                     {broadcast_as("where", chosen, shape, s), broadcast_as("where", as_type(x, dtype, s), shape, s),
                      broadcast_as("where", as_type(y, dtype, s), shape, s)},
                     dtype, s);
}

array isclose(const array& a, const array& b, double rtol, double atol, bool equal_nan, StreamOrDevice s) {
  const Dtype dtype = at_least_float(promote_types(a.dtype(), b.dtype()));
  auto [x, y] = matched("isclose", a, b, dtype, s);
  const array bound = number_of(atol, abs(y, s), s) + number_of(rtol, abs(y, s), s) * abs(y, s);
  array close = logical_and(less_equal(abs(x - y, s), bound, s), logical_and(isfinite(x, s), isfinite(y, s), s), s);
  close = logical_or(close, equal(x, y, s), s);
  return equal_nan ? logical_or(close, logical_and(isnan(x, s), isnan(y, s), s), s) : close;
}
array allclose(const array& a, const array& b, double rtol, double atol, bool equal_nan, StreamOrDevice s) {
  return all(isclose(a, b, rtol, atol, equal_nan, s), s);
}
array array_equal(const array& a, const array& b, bool equal_nan, StreamOrDevice s) {
  if (a.shape() != b.shape()) return array(false);
  array same = equal(a, b, s);
  if (equal_nan && is_float(a) && is_float(b)) same = logical_or(same, logical_and(isnan(a, s), isnan(b, s), s), s);
  return all(same, s);
}

}  // namespace lowtide
