#include "nest/plain/complex.h"

#include "nest/plain/functions.h"

namespace lowtide {
namespace {

PlainComplex number(PlainComplex like, double re, double im = 0) {
  return {like.re.constant(re), like.re.constant(im)};
}
PlainComplex times_i(PlainComplex z) { return {-z.im, z.re}; }
PlainComplex over_i(PlainComplex z) { return {z.im, -z.re}; }
PlainComplex scaled_by(PlainComplex z, double factor) { return {z.re * factor, z.im * factor}; }
Plain is_zero(PlainComplex z) { return (z.re == 0.0) & (z.im == 0.0); }
Plain is_finite(Plain x) { return absolute(x) < infinity(); }
Plain is_infinite(Plain x) { return absolute(x) == infinity(); }

PlainComplex exponential(PlainComplex z) {
  const Plain size = exponential(z.re);
  const Plain real = z.im == 0.0;  // infinite size times sin 0
  return {select(real, size, size * cosine(z.im)), select(real, z.im, size * sine(z.im))};
}

PlainComplex exp_minus_one(PlainComplex z) {
  const Plain half = sine(z.im * 0.5), m = exp_minus_one(z.re);
  const Plain re = fma(m, cosine(z.im), -(2.0 * half * half));
  const Plain real = z.im == 0.0;
  return {select(real, m, re), select(real, z.im, exponential(z.re) * sine(z.im))};
}

/// log |x + i y|; near 1 by log1p of |z|^2 - 1.
Plain log_of_size(Plain x, Plain y) {
  const Plain a = absolute(x), b = absolute(y);
  const Plain most = select(a > b, a, b), least = select(a > b, b, a);
  const Plain size = hypotenuse(x, y);
  const Plain near = (size > 0.5) & (size < 2.0);
  const Plain beyond = fma(most - 1.0, most + 1.0, least * least);
  return select(near, log_plus_one(select(near, beyond, 0.0)) * 0.5, logarithm(size));
}

PlainComplex logarithm(PlainComplex z) { return {log_of_size(z.re, z.im), arc_tangent(z.im, z.re)}; }

PlainComplex log_plus_one(PlainComplex z) {
  const Plain near = (absolute(z.re) < 0.5) & (absolute(z.im) < 0.5);
  const Plain beyond = fma(z.re, z.re + 2.0, z.im * z.im);
  const Plain one = z.re + 1.0;
  const Plain size = select(near, log_plus_one(select(near, beyond, 0.0)) * 0.5, logarithm(hypotenuse(one, z.im)));
  return {size, arc_tangent(z.im, one)};
}

PlainComplex square_root(PlainComplex z) {
  // t = sqrt((|re| + |z|)/2) and im/(2 t), exchanged where re < 0; scaled, so that |z| doesn't overflow
  const Plain most = larger(absolute(z.re), absolute(z.im));
  const Plain huge = most > 0x1p1000;
  const Plain x = select(huge, z.re * 0x1p-4, z.re), y = select(huge, z.im * 0x1p-4, z.im);
  const Plain back = select(huge, 4.0, x.constant(1.0));
  const Plain t = square_root((absolute(x) + hypotenuse(x, y)) * 0.5) * back;
  const Plain other = absolute(z.im) / (t + t);
  const Plain left = z.re < 0.0;
  PlainComplex root{select(left, other, t), with_sign_of(select(left, t, other), z.im)};
  root = select(is_zero(z), {x.constant(0.0), z.im}, root);
  return select(is_infinite(z.im), {x.constant(infinity()), z.im}, root);
}

PlainComplex hyperbolic_sine(PlainComplex z) {
  const Plain real = z.im == 0.0;
  return {hyperbolic_sine(z.re) * cosine(z.im), select(real, z.im, hyperbolic_cosine(z.re) * sine(z.im))};
}
PlainComplex hyperbolic_cosine(PlainComplex z) {
  const Plain real = z.im == 0.0;
  return {hyperbolic_cosine(z.re) * cosine(z.im),
          select(real, z.im * hyperbolic_sine(z.re), hyperbolic_sine(z.re) * sine(z.im))};
}
PlainComplex hyperbolic_tangent(PlainComplex z) {
  // Kahan: t = tan y, s = sinh x, b = 1 + t^2, r = sqrt(1 + s^2): (b r s + i t)/(1 + b s^2)
  const Plain far = absolute(z.re) > 22.0;
  const Plain x = select(far, with_sign_of(z.re.constant(1.0), z.re), z.re);
  const Plain t = tangent(z.im), s = hyperbolic_sine(x);
  const Plain b = fma(t, t, 1.0), r = square_root(fma(s, s, 1.0));
  const Plain divisor = fma(b * s, s, 1.0);
  // of a large tangent: both parts divided by t^2
  const Plain steep = absolute(t) > 0x1p500;
  const PlainComplex near{select(steep, r / s, b * r * s / divisor), select(steep, 1.0 / (t * s * s), t / divisor)};
  const Plain small = exponential(absolute(z.re) * -2.0) * 4.0;
  return select(far, {x, select(is_finite(z.im), small * sine(z.im) * cosine(z.im), with_sign_of(small, z.im))}, near);
}

PlainComplex area_sine(PlainComplex z) {
  // odd: computed with a real part >= 0, where z^2/(1 + sqrt(1 + z^2)) + z loses nothing
  const Plain left = sign_bit(z.re);
  const PlainComplex w = select(left, -z, z), square = w * w;
  const PlainComplex one = number(z, 1);
  const PlainComplex result = log_plus_one(w + square / (one + square_root(one + square)));
  return select(left, -result, result);
}
PlainComplex area_tangent(PlainComplex z) { return scaled_by(log_plus_one(z) - log_plus_one(-z), 0.5); }
PlainComplex arc_sine(PlainComplex z) { return over_i(area_sine(times_i(z))); }

PlainComplex power(PlainComplex x, PlainComplex y) {
  const PlainComplex general = exponential(y * logarithm(x));
  const PlainComplex at_zero = select(y.re > 0.0, number(x, 0), general);
  return select(is_zero(y), number(x, 1), select(is_zero(x), at_zero, general));
}

/// sign of a real infinity or 1, else of zero: what C's Annex G puts for an infinite factor.
Plain boxed(Plain x) { return with_sign_of(select(is_infinite(x), 1.0, x.constant(0.0)), x); }

PlainComplex wide(PlainComplex z) { return {z.re.to(ElementType::kF64), z.im.to(ElementType::kF64)}; }

PlainComplex function(Opcode opcode, PlainComplex z) {
  switch (opcode) {
    case Opcode::kAcos: {
      const PlainComplex sine = arc_sine(z);
      return {1.5707963267948966 - sine.re, -sine.im};
    }
    case Opcode::kAcosh: {
      const PlainComplex one = number(z, 1);
      return logarithm(z + square_root(z + one) * square_root(z - one));
    }
    case Opcode::kAsin: return arc_sine(z);
    case Opcode::kAsinh: return area_sine(z);
    case Opcode::kAtan: return over_i(area_tangent(times_i(z)));
    case Opcode::kAtanh: return area_tangent(z);
    case Opcode::kCbrt: return select(is_zero(z), z, power(z, number(z, 1.0 / 3.0)));
    case Opcode::kCosh: return hyperbolic_cosine(z);
    case Opcode::kCosine: return hyperbolic_cosine(times_i(z));
    case Opcode::kExponential: return exponential(z);
    case Opcode::kExponentialMinusOne: return exp_minus_one(z);
    case Opcode::kLog: return logarithm(z);
    case Opcode::kLogPlusOne: return log_plus_one(z);
    case Opcode::kLogistic: return number(z, 1) / (number(z, 1) + exponential(-z));
    case Opcode::kRsqrt: return number(z, 1) / square_root(z);
    case Opcode::kSign: {
      const Plain size = hypotenuse(z.re, z.im);
      return select(is_zero(z), z, {z.re / size, z.im / size});
    }
    case Opcode::kSine: return over_i(hyperbolic_sine(times_i(z)));
    case Opcode::kSinh: return hyperbolic_sine(z);
    case Opcode::kSqrt: return square_root(z);
    case Opcode::kTan: return over_i(hyperbolic_tangent(times_i(z)));
    case Opcode::kTanh: return hyperbolic_tangent(z);
    default: LT_ASSERT(false, std::string(opcode_name(opcode)) + " of complex numbers has no expansion"); return z;
  }
}

PlainComplex function(Opcode opcode, PlainComplex a, PlainComplex b) {
  switch (opcode) {
    case Opcode::kDivide: return a / b;
    case Opcode::kPower: return power(a, b);
    case Opcode::kAtan2: return over_i(logarithm((b + times_i(a)) / square_root(b * b + a * a)));
    default: LT_ASSERT(false, std::string(opcode_name(opcode)) + " of complex numbers has no expansion"); return a;
  }
}

}  // namespace

PlainComplex select(Plain predicate, PlainComplex then, PlainComplex otherwise) {
  return {select(predicate, then.re, otherwise.re), select(predicate, then.im, otherwise.im)};
}

PlainComplex operator*(PlainComplex a, PlainComplex b) {
  return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}

PlainComplex operator/(PlainComplex a, PlainComplex b) {
  // Both divided by the power of two below the larger part of b, so that its square is in range.
  const Plain most = larger(absolute(b.re), absolute(b.im));
  const bool narrow = is_f32(a.re);
  const int64_t exponents = narrow ? 0x7f800000 : 0x7ff0000000000000,
                twice_one = narrow ? 0x7f000000 : 0x7fe0000000000000;
  const Plain exponent = bits_of(most) & exponents;
  const Plain inverse = (exponent.integer(twice_one) - exponent).as(a.re.type());
  const Plain usual = (most > 0.0) & (exponent < exponent.integer(twice_one));
  const Plain scale = select(usual, inverse, 1.0);
  const Plain c = b.re * scale, d = b.im * scale;
  const Plain square = fma(c, c, d * d);
  const PlainComplex plain{fma(a.re, c, a.im * d) / square * scale, fma(a.im, c, -(a.re * d)) / square * scale};
  // Where both parts are NaN, infinities and zeros may still tell (C99, Annex G).
  const Plain lost = is_nan(plain.re) & is_nan(plain.im);
  const Plain by_zero = (square == 0.0) & !(is_nan(a.re) & is_nan(a.im));
  const Plain pole = with_sign_of(c.constant(infinity()), b.re);
  const Plain above = (is_infinite(a.re) | is_infinite(a.im)) & is_finite(b.re) & is_finite(b.im);
  const Plain below = (is_infinite(b.re) | is_infinite(b.im)) & is_finite(a.re) & is_finite(a.im);
  const Plain p = boxed(a.re), q = boxed(a.im), r = boxed(b.re), s = boxed(b.im);
  const PlainComplex infinite{(p * c + q * d) * infinity(), (q * c - p * d) * infinity()};
  const PlainComplex zero{(a.re * r + a.im * s) * 0.0, (a.im * r - a.re * s) * 0.0};
  PlainComplex special = select(below, zero, plain);
  special = select(above, infinite, special);
  special = select(by_zero, {pole * a.re, pole * a.im}, special);
  return select(lost, special, plain);
}

PlainComplex complex_operation(Opcode opcode, PlainComplex a) {
  if (opcode == Opcode::kNegate) return -a;
  if (!is_f32(a.re)) return function(opcode, a);
  const PlainComplex result = function(opcode, wide(a));
  return {result.re.to(ElementType::kF32), result.im.to(ElementType::kF32)};
}

PlainComplex complex_operation(Opcode opcode, PlainComplex a, PlainComplex b) {
  switch (opcode) {
    case Opcode::kAdd: return a + b;
    case Opcode::kSubtract: return a - b;
    case Opcode::kMultiply: return a * b;
    default: break;
  }
  if (!is_f32(a.re)) return function(opcode, a, b);
  const PlainComplex result = function(opcode, wide(a), wide(b));
  return {result.re.to(ElementType::kF32), result.im.to(ElementType::kF32)};
}

}  // namespace lowtide
