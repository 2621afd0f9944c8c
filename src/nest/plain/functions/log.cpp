/// Logarithms. x = 2^k (1 + f) with 1 + f in [3/4, 3/2), by integer arithmetic on x's bits.

#include "nest/plain/functions.h"

namespace lowtide::engine {
namespace {

constexpr double kLog2 = 0.693147180559945309417;  // its relative error as f32 is 2.7e-9: no second part needed
constexpr double kLog2High = 0x1.62e42fefa38p-1, kLog2Low = 0x1.ef35793c7673p-45;

/// Constants of a float's format, such as the bits of 3/4 and of 1.
struct FloatBits {
  int mantissa;
  int64_t three_quarters, one, exponents, smallest_normal;
};
FloatBits layout(Plain x) {
  if (is_f32(x)) return {23, 0x3f400000, 0x3f800000, ~int64_t{0x7fffff}, 0x00800000};
  return {52, 0x3fe8000000000000, 0x3ff0000000000000, ~int64_t{0xfffffffffffff}, 0x0010000000000000};
}

/// Replaces the result if x isn't finite and greater than the logarithm's pole.
Plain with_special_values(Plain x, double pole, Plain result) {
  return select(x > pole, select(x < infinity(), result, x),
                select(x == pole, x.constant(-infinity()), not_a_number()));
}

}  // namespace

Plain float_of_small(Plain integer) {
  if (integer.width() == 32) return integer.to(ElementType::kF32);
  const Plain shift = integer.number(ElementType::kF64, 0x1.8p52);  // without AVX-512 there is no conversion
  return (integer + bits_of(shift)).as(ElementType::kF64) - shift;
}

Plain log_near_one(Plain f) {
  if (is_f32(f)) {
    const Plain p = polynomial(f, {-0.5000000082, 0.3333345444, -0.2500005458, 0.1999060676, -0.166477669, 0.1448206085,
                                   -0.1316223441, 0.104483414, -0.04490970099});
    return fma(f * f, p, f);
  }
  return log_from_parts(f.constant(0.0), f);
}

Plain log_from_parts(Plain k, Plain f) {
  if (is_f32(f)) return fma(k, kLog2, log_near_one(f));
  // log((1 + s)/(1 - s)) = 2 s + s^3 p(s^2); f - f^2/2 + s (f^2/2 + s^2 p) is the same and loses no digits.
  const Plain s = f / (f + 2.0);
  const Plain square = s * s;
  const Plain p =
      polynomial(square, {0.666666666666665959, 0.40000000000056953, 0.285714285557678171, 0.222222243028547551,
                          0.181816655121527322, 0.153911233680737189, 0.131734130344859761, 0.138442704143006027});
  const Plain half = f * f * 0.5;
  const Plain small = fma(s, fma(square, p, half), k * kLog2Low);
  return fma(k, kLog2High, f - (half - small));
}

Plain logarithm(Plain x) {
  const FloatBits bits = layout(x);
  const Plain tiny = x < (is_f32(x) ? 0x1p-126 : 0x1p-1022);
  const Plain normal = select(tiny, x * (is_f32(x) ? 0x1p23 : 0x1p52), x);
  const Plain raw = bits_of(normal);
  const Plain k = (raw - bits.three_quarters) & bits.exponents;
  const Plain f = (raw - k).as(x.type()) - 1.0;
  Plain result = x;
  if (is_f32(x)) {
    // k is still shifted left by 23 bits; the conversion is exact nevertheless
    const Plain scale = k.to(ElementType::kF32);
    result = fma(select(tiny, scale - 23.0 * 0x1p23, scale), kLog2 * 0x1p-23, log_near_one(f));
  } else {
    const Plain number = float_of_small(shift_right_arithmetic(k, 52));
    result = log_from_parts(select(tiny, number - 52.0, number), f);
  }
  return with_special_values(x, 0.0, result);
}

Plain log_plus_one(Plain x) {
  const FloatBits bits = layout(x);
  const Plain raw = bits_of(x + 1.0);
  // -k, so that log 2 times zero is -0 and preserves a result of -0. 2^-k x + (2^-k - 1) cancels no digits.
  const Plain minus_k = (raw.integer(bits.three_quarters - bits.exponents - 1) - raw) & bits.exponents;
  const Plain power = (minus_k + (bits.one + (int64_t{2} << bits.mantissa))).as(x.type());  // 4 * 2^-k
  const Plain f = (bits_of(x) + minus_k).as(x.type()) - fma(power, -0.25, 1.0);
  Plain result = x;
  if (is_f32(x)) {
    result = fma(minus_k.to(ElementType::kF32), -kLog2 * 0x1p-23, log_near_one(f));
  } else {
    result = log_from_parts(-float_of_small(shift_right_arithmetic(minus_k, 52)), f);
    result = select(absolute(x) < 0x1p-54, x, result);
  }
  return with_special_values(x, -1.0, result);
}

Plain area_sine(Plain x) {
  if (is_f32(x)) return in_f64(area_sine, x);
  // log(|x| + sqrt(x^2 + 1)) = log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))); for large x: log(2 |x|)
  const Plain magnitude = absolute(x);
  const Plain large = magnitude > 0x1p30;
  const Plain bounded = select(large, 1.0, magnitude);
  const Plain square = bounded * bounded;
  const Plain near = log_plus_one(bounded + square / (square_root(square + 1.0) + 1.0));
  const Plain far = logarithm(select(large, magnitude, 1.0)) + kLog2;
  return select(magnitude < 0x1p-28, x, with_sign_of(select(large, far, near), x));
}

Plain area_cosine(Plain x) {
  if (is_f32(x)) return in_f64(area_cosine, x);
  const Plain large = x > 0x1p30;
  const Plain t = select(large, 1.0, x) - 1.0;
  const Plain near = log_plus_one(t + square_root(fma(t, t, t + t)));
  const Plain far = logarithm(select(large, x, 1.0)) + kLog2;
  return select(x < 1.0, not_a_number(), select(large, far, near));
}

Plain area_tangent(Plain x) {
  if (is_f32(x)) return in_f64(area_tangent, x);
  const Plain magnitude = absolute(x);
  const Plain result = log_plus_one((magnitude + magnitude) / (1.0 - magnitude)) * 0.5;
  return select(magnitude < 0x1p-28, x, with_sign_of(result, x));
}

}  // namespace lowtide::engine
