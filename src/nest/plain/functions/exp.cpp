/// e^x, e^x - 1 and functions made of them. x = n log 2 + r, |r| <= log(2)/2, e^r by a polynomial.

#include "nest/plain/functions.h"

namespace lowtide::engine {
namespace {

constexpr double kLog2E = 1.44269504088896340736;
// log 2 in two parts; n times the upper one is exact
constexpr double kLog2High32 = 0.693359375, kLog2Low32 = -2.12194440e-4;
constexpr double kLog2High64 = 0x1.62e42fefa38p-1, kLog2Low64 = 0x1.ef35793c7673p-45;

/// (e^r - 1 - r) / r^2
Plain rest_of_exponential(Plain r) {
  if (is_f32(r)) {
    return polynomial(r, {0.5000000046, 0.1666666682, 0.04166635479, 0.008333273075, 0.001394099789, 0.0001991415449});
  }
  return polynomial(r,
                    {0.5, 0.166666666666666766, 0.0416666666666667013, 0.00833333333332162506, 0.00138888888888668542,
                     0.000198412698861318963, 0.000024801587360521196, 2.75572442116931068e-6, 2.75572427916425104e-7,
                     2.51090335694510909e-8, 2.09244328177450562e-9});
}

struct Reduced {
  Plain n, r;
};
Reduced reduce(Plain x) {
  const Nearest n = nearest_multiple(x, kLog2E);
  const bool narrow = is_f32(x);
  const Plain high = fma(n.number, -(narrow ? kLog2High32 : kLog2High64), x);
  return {n.integer, fma(n.number, -(narrow ? kLog2Low32 : kLog2Low64), high)};
}

/// e^r
Plain reduced_exponential(Plain r) { return fma(r * r, rest_of_exponential(r), r) + 1.0; }

}  // namespace

Nearest nearest_multiple(Plain x, double inverse) {
  // Added to 3/2 of the power of two whose last place is 1, x is rounded; the sum's low bits are the integer.
  const Plain shift = x.constant(is_f32(x) ? 0x1.8p23 : 0x1.8p52);
  const Plain sum = inverse == 1.0 ? x + shift : fma(x, inverse, shift);
  return {sum - shift, bits_of(sum) - bits_of(shift)};
}

Plain exponential(Plain x) {
  const double most = is_f32(x) ? 89.0 : 710.0, least = is_f32(x) ? -104.0 : -745.2;
  Plain result = x;
  if (is_f32(x)) {
    // The steps of ops/functions.h, so that compiled and interpreted programs agree to the bit.
    const Plain n = fma(x, kLog2E, 0.5).apply(Opcode::kFloor);
    const Plain r = fma(-n, -2.12194440e-4, fma(-n, 0.693359375, x));
    const Plain p = polynomial(
        r, {5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4});
    result = scaled(fma(p, r * r, r) + 1.0, n.to(ElementType::kS32));
  } else {
    const Reduced parts = reduce(x);
    result = scaled(reduced_exponential(parts.r), parts.n);
  }
  return select(x > most, infinity(), select(x < least, 0.0, result));
}

Plain moderate_exponential(Plain x) {
  const Reduced parts = reduce(x);
  return reduced_exponential(parts.r) * power_of_two(parts.n);
}

Plain exp_minus_one(Plain x) {
  const double most = is_f32(x) ? 89.0 : 710.0;
  const Reduced parts = reduce(select(x < -50.0, -50.0, x));
  const Plain p = fma(parts.r * parts.r, rest_of_exponential(parts.r), parts.r);
  // Computes half of the result first, since 2^n may be one power too large.
  const Plain half = power_of_two(parts.n - 1);
  const Plain result = fma(half, p, half - 0.5) * 2.0;
  const Plain tiny = absolute(x) < (is_f32(x) ? 0x1p-26 : 0x1p-55);
  return select(tiny, x, select(x > most, infinity(), result));
}

Plain logistic(Plain x) {
  // Computed from -|x|, so that nothing overflows and small results keep their digits.
  const double least = is_f32(x) ? -104.0 : -745.2;
  const Plain negative = -absolute(x);
  const Reduced parts = reduce(negative);
  const Plain e = select(negative < least, 0.0, scaled(reduced_exponential(parts.r), parts.n));
  const Plain above = select(x < 0.0, e, 1.0);
  // above / (1 + e), corrected by the rounding errors of the sum and the quotient
  const Plain below = e + 1.0, lost = e - (below - 1.0);
  const Plain inverse = 1.0 / below, quotient = above * inverse;
  return fma(fma(-quotient, below, above) - quotient * lost, inverse, quotient);
}

Plain hyperbolic_tangent(Plain x) {
  const Plain magnitude = absolute(x);
  Plain result = x;
  if (is_f32(x)) {
    const Plain square = x * x;
    const Plain p = polynomial(
        square, {-0.3333333057, 0.1333319591, -0.0539453783, 0.02169260672, -0.008156279967, 0.002122745578});
    const Plain near = fma(magnitude * square, p, magnitude);
    const Plain bounded = select(magnitude > 10.0, 10.0, magnitude);  // beyond 9.02 the result is 1
    const Plain far = 1.0 - 2.0 / (moderate_exponential(bounded + bounded) + 1.0);
    result = with_sign_of(select(magnitude < 0.632, near, far), x);
  } else {
    const Plain bounded = select(magnitude > 20.0, 20.0, magnitude);
    const Plain e = exp_minus_one(bounded + bounded);
    result = with_sign_of(e / (e + 2.0), x);
  }
  return result;
}

Plain hyperbolic_sine(Plain x) {
  if (is_f32(x)) return in_f64(hyperbolic_sine, x);
  // (e - 1/e)/2 with e = 1 + m: (m + m/(m + 1))/2; for large x, where e may overflow, e/2 as two factors
  const Plain magnitude = absolute(x);
  const Plain m = exp_minus_one(magnitude);
  const Plain root = exponential(magnitude * 0.5);
  const Plain result = select(magnitude > 30.0, root * 0.5 * root, 0.5 * (m + m / (m + 1.0)));
  return select(magnitude < 0x1p-28, x, with_sign_of(result, x));
}

Plain hyperbolic_cosine(Plain x) {
  if (is_f32(x)) return in_f64(hyperbolic_cosine, x);
  const Plain magnitude = absolute(x);
  const Plain e = exponential(magnitude);
  const Plain root = exponential(magnitude * 0.5);
  return select(magnitude > 30.0, root * 0.5 * root, fma(e, 0.5, 0.5 / e));
}

}  // namespace lowtide::engine
