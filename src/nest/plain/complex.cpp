#include "nest/plain/complex.h"

#include "nest/plain/functions.h"

namespace lowtide::engine {
namespace {

PlainComplex number(PlainComplex like, double re, double im = 0) {
  return {like.re.constant(re), like.re.constant(im)};
}
Plain infinity_like(Plain x) { return x.constant(infinity()); }
PlainComplex times_i(PlainComplex z) { return {-z.im, z.re}; }
PlainComplex over_i(PlainComplex z) { return {z.im, -z.re}; }
Plain is_zero(PlainComplex z) { return (z.re == 0.0) & (z.im == 0.0); }
/// Is it a converted real number, whose imaginary part is known to be zero?
bool is_real(PlainComplex z) { return z.im.id == z.im.constant(0.0).id; }
Plain is_finite(Plain x) { return absolute(x) < infinity(); }
Plain is_infinite(Plain x) { return absolute(x) == infinity(); }
Plain is_infinite(PlainComplex z) { return is_infinite(z.re) | is_infinite(z.im); }

PlainComplex exponential(PlainComplex z) {
  const Plain size = exponential(z.re);
  const Plain real = z.im == 0.0;  // avoids infinite size times sin 0
  return {select(real, size, size * cosine(z.im)), select(real, z.im, size * sine(z.im))};
}

PlainComplex exp_minus_one(PlainComplex z) {
  const Plain half = sine(z.im * 0.5), m = exp_minus_one(z.re);
  const Plain re = fma(m, cosine(z.im), -(2.0 * half * half));
  const Plain real = z.im == 0.0;
  return {select(real, m, re), select(real, z.im, exponential(z.re) * sine(z.im))};
}

/// A number scaled by 2^-90 or 2^90, if needed, so that its squares are in range.
struct Ranged {
  Plain huge, tiny;
  PlainComplex z;
  /// `back`: undoes the effect of the factor 2^-90 on x.
  Plain restored(Plain x, double back) const { return x * select(huge, back, select(tiny, 1 / back, x.constant(1.0))); }
};
bool was_f32(Plain x) {
  const Node& node = x.node();
  return node.opcode == Opcode::kConvert && is_f32(x.with(node.operands[0]));
}
Ranged ranged(PlainComplex z) {
  if (was_f32(z.re) && was_f32(z.im)) return {z.re.truth(false), z.re.truth(false), z};
  const Plain most = larger(absolute(z.re), absolute(z.im));
  const Plain huge = most > 0x1p1000, tiny = most < 0x1p-900;
  const Plain factor = select(huge, 0x1p-90, select(tiny, 0x1p90, most.constant(1.0)));
  return {huge, tiny, {z.re * factor, z.im * factor}};
}

/// log |x + i y|, where |x + i y| itself may be out of range.
Plain log_of_hypotenuse(Plain x, Plain y) {
  const Plain most = larger(absolute(x), absolute(y));
  const Plain up = most < 0x1p-400, down = most > 0x1p400;
  const Plain factor = select(up, 0x1p600, select(down, 0x1p-600, x.constant(1.0)));
  constexpr double kLog = 415.88830833596718565;  // log 2^600
  const Plain u = x * factor, v = y * factor;
  const Plain moved = select(up, -kLog, select(down, kLog, x.constant(0.0)));
  return select(is_infinite(x) | is_infinite(y), infinity(), fma(logarithm(fma(u, u, v * v)), 0.5, moved));
}

/// log |x + i y|; near 1 by log1p of |z|^2 - 1.
Plain log_of_size(Plain x, Plain y) {
  const Plain a = absolute(x), b = absolute(y);
  const Plain most = select(a > b, a, b), least = select(a > b, b, a);
  const Plain square = fma(x, x, y * y);
  const Plain near = (square > 0.25) & (square < 4.0);
  const Plain beyond = fma(most - 1.0, most + 1.0, least * least);
  return select(near, log_plus_one(select(near, beyond, 0.0)) * 0.5, log_of_hypotenuse(x, y));
}

PlainComplex logarithm(PlainComplex z) { return {log_of_size(z.re, z.im), arc_tangent(z.im, z.re)}; }

PlainComplex log_plus_one(PlainComplex z) {
  const Plain near = (absolute(z.re) < 0.5) & (absolute(z.im) < 0.5);
  const Plain beyond = fma(z.re, z.re + 2.0, z.im * z.im);
  const Plain one = z.re + 1.0;
  const Plain size = select(near, log_plus_one(select(near, beyond, 0.0)) * 0.5, log_of_hypotenuse(one, z.im));
  return {size, arc_tangent(z.im, one)};
}

PlainComplex square_root(PlainComplex z) {
  // t = sqrt((|re| + |z|)/2) and im/(2 t), swapped if re < 0
  const Ranged small = ranged(z);
  const Plain size = absolute(small.z.re) + hypotenuse(small.z.re, small.z.im);
  const Plain t = small.restored(square_root(size * 0.5), 0x1p45);
  const Plain other = absolute(z.im) / (t + t);
  const Plain left = z.re < 0.0;
  PlainComplex root{select(left, other, t), with_sign_of(select(left, t, other), z.im)};
  root = select(is_zero(z), {z.re.constant(0.0), z.im}, root);
  return select(is_infinite(z.im), {z.re.constant(infinity()), z.im}, root);
}

PlainComplex cube_root(PlainComplex z) {
  const Ranged small = ranged(z);
  const Plain size = small.restored(cube_root(hypotenuse(small.z.re, small.z.im)), 0x1p30);
  const Plain angle = arc_tangent(z.im, z.re) / 3.0;
  return select(is_zero(z), z, {size * cosine(angle), size * sine(angle)});
}

PlainComplex sign(PlainComplex z) {
  const PlainComplex small = ranged(z).z;
  const Plain size = hypotenuse(small.re, small.im);
  return select(is_zero(z), z, {small.re / size, small.im / size});
}

/// 1/(1 + e^-z), the sum as (2 cos(y/2)^2 + expm1(-x) cos y) - i e^-x sin y: no digits are lost near its zeros. For
/// very negative real parts it is e^z.
PlainComplex logistic(PlainComplex z) {
  const Plain half = cosine(z.im * 0.5), m = exp_minus_one(-z.re);
  const Plain re = fma(m, cosine(z.im), 2.0 * half * half);
  const Plain real = z.im == 0.0;
  const PlainComplex sum{select(real, m + 2.0, re), select(real, -z.im, exponential(-z).im)};
  return select(z.re < -40.0, exponential(z), number(z, 1) / sum);
}

PlainComplex hyperbolic_sine(PlainComplex z) {
  const Plain real = z.im == 0.0;
  return {hyperbolic_sine(z.re) * cosine(z.im), select(real, z.im, hyperbolic_cosine(z.re) * sine(z.im))};
}
PlainComplex hyperbolic_cosine(PlainComplex z) {
  const Plain real = z.im == 0.0;
  return {hyperbolic_cosine(z.re) * cosine(z.im),
          select(real, z.im * with_sign_of(z.re.constant(1.0), z.re), hyperbolic_sine(z.re) * sine(z.im))};
}
PlainComplex hyperbolic_tangent(PlainComplex z) {
  // Kahan: t = tan y, s = sinh x, b = 1 + t^2, r = sqrt(1 + s^2): (b r s + i t)/(1 + b s^2)
  const Plain far = absolute(z.re) > 22.0;
  const Plain x = select(far, with_sign_of(z.re.constant(1.0), z.re), z.re);
  const Plain t = tangent(z.im), s = hyperbolic_sine(x);
  const Plain b = fma(t, t, 1.0), r = square_root(fma(s, s, 1.0));
  const Plain divisor = fma(b * s, s, 1.0);
  // for a large tangent, divide both parts by t^2
  const Plain steep = absolute(t) > 0x1p500;
  const PlainComplex near{select(steep, r / s, b * r * s / divisor), select(steep, 1.0 / (t * s * s), t / divisor)};
  // With an infinite real part the angle doesn't matter; else the result is NaN if the angle isn't finite.
  const Plain small = exponential(absolute(z.re) * -2.0) * 4.0, angle = sine(z.im) * cosine(z.im);
  const PlainComplex at_end =
      select(is_infinite(z.re) & !is_finite(z.im), {x, with_sign_of(small, z.im)}, {x + angle * 0.0, small * angle});
  const PlainComplex result = select(far, at_end, near);
  return {result.re, select(z.im == 0.0, z.im, result.im)};
}

/// Inverse functions are computed from the square roots of 1 + z and of 1 - z or z - 1, as sums of products with equal
/// signs (Kahan, 1987). If these overflow, from the roots of 2^-90 z; logarithms are then too small by 90 log 2.
struct Roots {
  PlainComplex plus, minus;
  Plain moved;
  Plain logarithm_of(Plain size) const {
    const Plain result = area_sine(size);
    return result + with_sign_of(moved, result);
  }
};
Roots roots(PlainComplex z, bool z_minus_one) {
  const Ranged small = ranged(z);
  const PlainComplex w = select(small.huge, small.z, z);
  const PlainComplex minus = z_minus_one ? PlainComplex{w.re - 1.0, w.im} : PlainComplex{1.0 - w.re, -w.im};
  return {square_root({w.re + 1.0, w.im}), square_root(minus),
          select(small.huge, 62.383246250395078, z.re.constant(0.0))};
}
PlainComplex arc_sine(PlainComplex z) {
  const Roots r = roots(z, false);
  const PlainComplex &p = r.plus, &q = r.minus;
  // z's own real part, scaled as the roots are
  const Plain x = select(r.moved > 0.0, z.re * 0x1p-90, z.re);
  const PlainComplex result{arc_tangent(x, fma(p.re, q.re, -(p.im * q.im))),
                            r.logarithm_of(fma(p.im, q.re, -(p.re * q.im)))};
  return select(is_infinite(z), {arc_tangent(z.re, absolute(z.im)), with_sign_of(infinity_like(z.im), z.im)}, result);
}
PlainComplex arc_cosine(PlainComplex z) {
  const Roots r = roots(z, false);
  const PlainComplex &p = r.plus, &q = r.minus;
  const PlainComplex result{arc_tangent(q.re, p.re) * 2.0, r.logarithm_of(fma(p.re, q.im, -(p.im * q.re)))};
  return select(is_infinite(z), {arc_tangent(absolute(z.im), z.re), -with_sign_of(infinity_like(z.im), z.im)}, result);
}
PlainComplex area_cosine(PlainComplex z) {
  const Roots r = roots(z, true);
  const PlainComplex &p = r.plus, &q = r.minus;
  const PlainComplex result{r.logarithm_of(fma(p.re, q.re, p.im * q.im)), arc_tangent(q.im, p.re) * 2.0};
  return select(is_infinite(z), {infinity_like(z.re), arc_tangent(z.im, z.re)}, result);
}

/// log((1 + z)/(1 - z))/2, odd. For x >= 0 the real part is log1p(4 x/|1 - z|^2)/4.
PlainComplex area_tangent(PlainComplex z) {
  const Plain left = sign_bit(z.re);
  const PlainComplex w = select(left, -z, z);
  const Plain other = 1.0 - w.re, distance = hypotenuse(other, w.im);
  const Plain close = distance < 0x1p-100;
  const Plain usual = log_plus_one(w.re / distance * 4.0 / select(close, 1.0, distance)) * 0.25;
  const Plain pole = (0.69314718055994531 - logarithm(distance)) * 0.5;
  const Plain angle = (arc_tangent(w.im, w.re + 1.0) + arc_tangent(w.im, other)) * 0.5;
  const PlainComplex result{select(is_infinite(z), 0.0, select(close, pole, usual)),
                            select(is_infinite(w.im), with_sign_of(w.im.constant(1.5707963267948966), w.im), angle)};
  return select(left, -result, result);
}
PlainComplex arc_tangent(PlainComplex z) { return over_i(area_tangent(times_i(z))); }

/// A number with the sign of a b + c d, even if products are out of range.
Plain sign_of_products(Plain a, Plain b, Plain c, Plain d) {
  const auto product = [](Plain x, Plain y, double factor) {
    const Plain y_is_small = absolute(y) < absolute(x);
    return select(y_is_small, y, x) * factor * select(y_is_small, x, y);
  };
  const auto scaled_sum = [&](double factor) { return product(a, b, factor) + product(c, d, factor); };
  const Plain sum = fma(a, b, c * d);
  return select(sum == 0.0, scaled_sum(0x1p1000), select(is_finite(sum), sum, scaled_sum(0x1p-1030)));
}

/// -i log((x + i y)/sqrt(x^2 + y^2)). With a = x + i y and b = x - i y that is -i (log a - log b)/2, up to a half turn
/// if the root of a b isn't the product of the roots; for small y/x it is the arc tangent, up to a half turn.
PlainComplex arc_tangent(PlainComplex v, PlainComplex u) {
  constexpr double kPi = 3.14159265358979323846;
  const Plain most = larger(larger(absolute(u.re), absolute(u.im)), larger(absolute(v.re), absolute(v.im)));
  // so that no sum overflows and none is denormal
  const Plain factor = select(most > 0x1p1000, 0.25, select(most < 0x1p-900, 0x1p90, most.constant(1.0)));
  const PlainComplex x{u.re * factor, u.im * factor}, y{v.re * factor, v.im * factor};
  const PlainComplex a = x + times_i(y), b = x - times_i(y), t = v / u;
  const Plain p = arc_tangent(a.im, a.re), q = arc_tangent(b.im, b.re);
  const Plain half = (p - q) * 0.5, sum = p + q;
  // Its sign is opposite to that of t's real part, which may have lost its sign; at zero as in the logarithm.
  const Plain half_turn = select(sign_of_products(u.re, v.re, u.im, v.im) > 0.0, -kPi, half.constant(kPi));
  // Is |sum| > pi? Near pi the imaginary part of a b decides.
  const Plain part = sign_of_products(u.re, u.im, v.re, v.im);
  const Plain beyond = (absolute(sum) > 4.0) | ((absolute(sum) > 3.0) & ((part < 0.0) ^ (sum < 0.0)) & (part != 0.0));
  const Plain turned = half + select(beyond, half_turn, 0.0);
  const Plain im = logarithm(hypotenuse(b.re, b.im) / hypotenuse(a.re, a.im)) * 0.5;
  const Plain small = (absolute(t.re) < 0.25) & (absolute(t.im) < 0.25);
  const PlainComplex near = arc_tangent(t);
  const Plain near_turned = near.re + select(absolute(turned - near.re) > kPi / 2, half_turn, 0.0);
  return select(small, {near_turned, near.im}, {turned, im});
}

PlainComplex power(PlainComplex x, PlainComplex y) {
  const PlainComplex log = logarithm(x), scaled{y.re * log.re, y.re * log.im};
  const PlainComplex general = exponential(select(y.im == 0.0, scaled, y * log));  // zero times infinity is NaN
  const PlainComplex at_zero = select(y.re > 0.0, number(x, 0), general);
  return select(is_zero(y), number(x, 1), select(is_zero(x), at_zero, general));
}

/// 1 for an infinity, else 0, with the sign of x: replaces an infinite factor in C's Annex G.
Plain boxed(Plain x) { return with_sign_of(select(is_infinite(x), 1.0, x.constant(0.0)), x); }

PlainComplex wide(PlainComplex z) { return {z.re.to(ElementType::kF64), z.im.to(ElementType::kF64)}; }

PlainComplex function(Opcode opcode, PlainComplex z) {
  switch (opcode) {
    case Opcode::kAcos: return arc_cosine(z);
    case Opcode::kAcosh: return area_cosine(z);
    case Opcode::kAsin: return arc_sine(z);
    case Opcode::kAsinh: return over_i(arc_sine(times_i(z)));
    case Opcode::kAtan: return arc_tangent(z);
    case Opcode::kAtanh: return area_tangent(z);
    case Opcode::kCbrt: return cube_root(z);
    case Opcode::kCosh: return hyperbolic_cosine(z);
    case Opcode::kCosine: return hyperbolic_cosine(times_i(z));
    case Opcode::kExponential: return exponential(z);
    case Opcode::kExponentialMinusOne: return exp_minus_one(z);
    case Opcode::kLog: return logarithm(z);
    case Opcode::kLogPlusOne: return log_plus_one(z);
    case Opcode::kLogistic: return logistic(z);
    case Opcode::kRsqrt: return number(z, 1) / square_root(z);
    case Opcode::kSign: return sign(z);
    case Opcode::kSine: return over_i(hyperbolic_sine(times_i(z)));
    case Opcode::kSinh: return hyperbolic_sine(z);
    case Opcode::kSqrt: return square_root(z);
    case Opcode::kTan: return over_i(hyperbolic_tangent(times_i(z)));
    case Opcode::kTanh: return hyperbolic_tangent(z);
    default: LT_ASSERT(false, std::string(opcode_name(opcode)) + " of complex numbers has no expansion"); return z;
  }
}

/// Compares the real parts, then the imaginary ones.
Plain comes_before(PlainComplex a, PlainComplex b) { return (a.re < b.re) | ((a.re == b.re) & (a.im < b.im)); }

PlainComplex function(Opcode opcode, PlainComplex a, PlainComplex b) {
  switch (opcode) {
    case Opcode::kDivide: return a / b;
    case Opcode::kPower: return power(a, b);
    case Opcode::kAtan2: return arc_tangent(a, b);
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
  // Divides both by the power of two below the larger part of b, so that its square is in range.
  const Plain most = larger(absolute(b.re), absolute(b.im));
  const bool narrow = is_f32(a.re);
  const int64_t exponents = narrow ? 0x7f800000 : 0x7ff0000000000000,
                twice_one = narrow ? 0x7f000000 : 0x7fe0000000000000;
  const Plain exponent = bits_of(most) & exponents;
  const Plain least = exponent.integer(narrow ? 0x00800000 : 0x0010000000000000);
  const Plain inverse = larger(exponent.integer(twice_one) - exponent, least).as(a.re.type());
  const Plain usual = (most > 0.0) & (exponent < exponent.integer(exponents));
  const Plain scale = select(usual, inverse, 1.0);
  const Plain c = b.re * scale, d = b.im * scale;
  const Plain square = fma(c, c, d * d);
  const Ranged numerator = ranged(a);
  const PlainComplex& n = numerator.z;
  const auto part = [&](Plain sum) { return numerator.restored(sum / square * scale, 0x1p90); };
  const PlainComplex plain{part(fma(n.re, c, n.im * d)), part(fma(n.im, c, -(n.re * d)))};
  // If both parts are NaN, infinities and zeros may still decide the result (C99, Annex G).
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
    case Opcode::kDivide:
      if (is_real(b)) return {a.re / b.re, a.im / b.re};
      break;
    case Opcode::kMaximum: return select(comes_before(a, b), b, a);
    case Opcode::kMinimum: return select(comes_before(b, a), b, a);
    default: break;
  }
  if (!is_f32(a.re)) return function(opcode, a, b);
  const PlainComplex result = function(opcode, wide(a), wide(b));
  return {result.re.to(ElementType::kF32), result.im.to(ElementType::kF32)};
}

}  // namespace lowtide::engine
