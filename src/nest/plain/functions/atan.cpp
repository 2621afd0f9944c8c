/// Inverse trigonometric functions. One division reduces an angle to [-pi/8, pi/8].

#include "nest/plain/functions.h"

namespace lowtide::engine {
namespace {

constexpr double kHalfPi = 0x1.921fb54442d18p0, kHalfPiLow = 0x1.1a62633145c07p-54;

/// The angle of x + i y for x, y >= 0 or NaN; pi minus that angle if x_is_negative.
Plain angle(Plain y, Plain x, Plain x_is_negative) {
  const Plain swap = y > x;
  Plain large = select(swap, y, x), small = select(swap, x, y);
  const Plain both_infinite = small == infinity();
  small = select(both_infinite, 1.0, small);
  large = select(both_infinite, 1.0, large);
  const Plain scale = select(large > 0x1p1000, 0x1p-60, large.constant(1.0));
  large = large * scale, small = small * scale;
  const Plain reduce = small > large * 0.41421356237309504;
  const Plain t =
      select(reduce, small - large, small) / select(reduce, small + large, select(large == 0.0, 1.0, large));
  const Plain square = t * t;
  const Plain p =
      polynomial(square, {-0.333333333333331978, 0.199999999999536628, -0.142857142802040165, 0.11111110783813801,
                          -0.090908977670604068, 0.07692060361567118, -0.0666310545506940448, 0.0584789740281408116,
                          -0.0503933094354603551, 0.0380649593906886433, -0.0179073502116660324});
  // quarters pi/4 plus or minus the small angle
  const Plain quarters = select(reduce, 1.0, select(swap, 2.0, t.constant(0.0)));
  const Plain moved = select(x_is_negative, 4.0 - quarters, quarters);
  const Plain flip = swap ^ x_is_negative;
  const Plain sum = t + fma(t * square, p, select(flip, -moved, moved) * (kHalfPiLow / 2));
  return fma(moved, kHalfPi / 2, select(flip, -sum, sum));
}

struct ArcSine {
  Plain big;          // |x| > 1/2
  Plain value, rest;  // their sum is the arc sine of |x|, or of sqrt((1 - |x|)/2) if big
};
ArcSine arc_sine_parts(Plain x) {
  const Plain magnitude = absolute(x);
  const Plain big = magnitude > 0.5;
  const Plain square = select(big, 0.5 - magnitude * 0.5, magnitude * magnitude);
  const Plain root = square_root(square);
  const Plain value = select(big, root, magnitude);
  // the rounding error of the root
  const Plain lost = fma(-root, root, square) / (select(root == 0.0, 1.0, root) * 2.0);
  const Plain p =
      polynomial(square, {0.166666666666667624, 0.0749999999997026123, 0.0446428571751213827, 0.0303819426835969316,
                          0.0223722156606947963, 0.0173516000875181757, 0.0139809614758565328, 0.0113977759732286754,
                          0.0107865282953938289, 0.00368304762455983292, 0.0217634798006023327, -0.0210772578756107548,
                          0.0326768643652997408});
  return {big, value, fma(value * square, p, select(big, lost, 0.0))};
}

}  // namespace

Plain arc_sine(Plain x) {
  if (is_f32(x)) return in_f64([](Plain wide) { return arc_sine(wide); }, x);
  const ArcSine parts = arc_sine_parts(x);
  const Plain big = (kHalfPi - parts.value * 2.0) + (kHalfPiLow - parts.rest * 2.0);
  return with_sign_of(select(parts.big, big, parts.value + parts.rest), x);
}

Plain arc_cosine(Plain x) {
  if (is_f32(x)) return in_f64([](Plain wide) { return arc_cosine(wide); }, x);
  const ArcSine parts = arc_sine_parts(x);
  const Plain negative = x < 0.0;
  const Plain value = select(negative, -parts.value, parts.value), rest = select(negative, -parts.rest, parts.rest);
  const Plain small = kHalfPi - (value + (rest - kHalfPiLow));
  const Plain twice = (parts.value + parts.rest) * 2.0;
  const Plain big = select(negative, (2 * kHalfPi - parts.value * 2.0) + (2 * kHalfPiLow - parts.rest * 2.0), twice);
  return select(parts.big, big, small);
}

Plain arc_tangent(Plain x) {
  if (is_f32(x)) return in_f64([](Plain wide) { return arc_tangent(wide); }, x);
  const Plain result = angle(absolute(x), x.constant(1.0), x.truth(false));
  return select(is_nan(x), x, with_sign_of(result, x));
}

Plain arc_tangent(Plain y, Plain x) {
  if (is_f32(x)) return in_f64([](Plain a, Plain b) { return arc_tangent(a, b); }, y, x);
  const Plain result = angle(absolute(y), absolute(x), sign_bit(x));
  return select(is_nan(x) | is_nan(y), x + y, with_sign_of(result, y));
}

}  // namespace lowtide::engine
