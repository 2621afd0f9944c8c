/// Sine, cosine and tangent. x = n pi/2 + r, |r| <= pi/4: three parts of pi/2 if x is moderate, else exact integer
/// arithmetic on the bits of 2/pi (Payne and Hanek, 1983).

#include <array>

#include "nest/plain/functions.h"

namespace lowtide::engine {
namespace {

constexpr double kHalfPi = 0x1.921fb54442d18p0, kHalfPiLow = 0x1.1a62633145c07p-54;

/// 2/pi in words of 64 bits, preceded by a word of zeros.
constexpr std::array<uint64_t, 20> kTwoOverPi = {
    0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41,
    0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB};

/// x - n pi/2 as high + low, with n modulo 4.
struct Quadrant {
  Plain n, high, low;
};

/// The upper 64 bits of a * b.
Plain high_product(Plain a, Plain b) {
  const Plain al = a & int64_t{0xffffffff}, ah = shift_right_logical(a, 32);
  const Plain bl = b & int64_t{0xffffffff}, bh = shift_right_logical(b, 32);
  const Plain cross = ah * bl + shift_right_logical(al * bl, 32);
  const Plain other = al * bh + (cross & int64_t{0xffffffff});
  return ah * bh + shift_right_logical(cross, 32) + shift_right_logical(other, 32);
}

/// For finite |x| >= 2^9, f64. x = m 2^e with an integer m of 53 bits. Bits of 2/pi whose products with x are multiples
/// of 4 don't matter; of the others the first 192 do.
Quadrant huge_quadrant(Plain x) {
  const Plain raw = x.as(ElementType::kU64);
  const Plain e = (shift_right_logical(raw, 52) & 0x7ff).as(ElementType::kS64) - 1075;
  const Plain mantissa = (raw & int64_t{0xfffffffffffff}) | (int64_t{1} << 52);
  const Plain first = e + 62;  // the first bit that matters, counted with the zeros
  const Plain word = shift_right_logical(first, 6);
  std::array<Plain, 4> words = {raw.integer(0), raw.integer(0), raw.integer(0), raw.integer(0)};
  for (size_t w = 0; w + words.size() <= kTwoOverPi.size(); ++w) {
    const Plain here = word == static_cast<int64_t>(w);
    for (size_t i = 0; i < words.size(); ++i) words[i] = select(here, raw.bits(kTwoOverPi[w + i]), words[i]);
  }
  const Plain shift = (first & 63).as(ElementType::kU64);
  const auto window = [&](size_t i) {
    const Plain under = words[i + 1].apply(Opcode::kShiftRightLogical, 64 - shift);
    return words[i].apply(Opcode::kShiftLeft, shift) | select(shift == 0, 0, under);
  };
  const Plain a = window(0), b = window(1), c = window(2);
  const Plain middle = b * mantissa;
  const Plain low = middle + high_product(c, mantissa);
  const Plain top = a * mantissa + high_product(b, mantissa) + select(low < middle, raw.integer(1), raw.integer(0));
  // top.low is the number of quarter turns modulo 4: two bits, then the fraction, which is moved to [-1/2, 1/2).
  const Plain turns = shift_right_logical(top + (int64_t{1} << 61), 62).as(ElementType::kS64);
  const Plain fraction = (top << 2) | shift_right_logical(low, 62);
  const Plain below = fraction.as(ElementType::kS64) < 0;
  const Plain size = select(below, ~fraction, fraction);
  const Plain rest = shift_right_logical(select(below, ~(low << 2), low << 2), 11);
  const Plain head = shift_right_logical(size, 32).to(ElementType::kF64) * 0x1p-32;
  const Plain tail =
      fma(rest.to(ElementType::kF64), 0x1p-117, (size & int64_t{0xffffffff}).to(ElementType::kF64) * 0x1p-64);
  const Plain sum = head + tail, left = tail - (sum - head);
  const Plain high = sum * kHalfPi;
  const Plain error = fma(left, kHalfPi, fma(sum, kHalfPiLow, fma(sum, kHalfPi, -high)));
  const Plain negative = sign_bit(x);
  const Plain flip = below ^ negative;
  return {select(negative, -turns, turns), select(flip, -high, high), select(flip, -error, error)};
}

Quadrant moderate_quadrant(Plain x, bool is_for_f32) {
  const Nearest n = nearest_multiple(x, 0.63661977236758134308);
  if (is_for_f32) {
    const Plain r = fma(n.number, -kHalfPiLow, fma(n.number, -kHalfPi, x));
    return {n.integer, r, x.constant(0.0)};
  }
  // three parts of 33, 33 and 53 bits; n has 10
  const Plain a = fma(n.number, -0x1.921fb544p0, x);
  const Plain b = n.number * 0x1.0b4611a6p-34;
  const Plain high = a - b;
  const Plain lost = (a - high) - b;
  const Plain low = fma(n.number, -0x1.3198a2e037073p-69, lost);
  const Plain sum = high + low;
  return {n.integer, sum, low - (sum - high)};
}

Quadrant quadrant(Plain x, bool is_for_f32) {
  const Quadrant moderate = moderate_quadrant(x, is_for_f32);
  const Plain magnitude = absolute(x);
  const Plain huge = (magnitude > (is_for_f32 ? 32768.0 : 1024.0)) & (magnitude < infinity());
  const std::array<Plain, 3> fast = {moderate.n, moderate.high, moderate.low};
  const std::array<Plain, 1> from = {x};
  const auto slow = rarely(huge, fast, from, [&](std::span<const Plain> argument) -> std::vector<Plain> {
    const Quadrant exact = huge_quadrant(argument[0]);
    return {exact.n, exact.high, exact.low};
  });
  return {slow[0], slow[1], slow[2]};
}

/// sin(high + low)
Plain sine_near_zero(const Quadrant& q, bool is_for_f32) {
  const Plain r = q.high, square = r * r;
  if (is_for_f32) {
    const Plain p = polynomial(square, {-0.1666666664, 0.008333329267, -0.0001983929614, 2.717939965e-6});
    return fma(r * square, p, r);
  }
  const Plain p = polynomial(
      square, {-0.166666666666666666, 0.00833333333333332218, -0.000198412698412543877, 2.75573192138315297e-6,
               -2.50521048165998076e-8, 1.60583543468359554e-10, -7.57808074810604546e-13});
  return r + fma(r * square, p, q.low);
}

/// cos(high + low)
Plain cosine_near_zero(const Quadrant& q, bool is_for_f32) {
  const Plain r = q.high, square = r * r;
  if (is_for_f32) {
    const Plain p = polynomial(square, {0.04166666662, -0.001388888333, 2.47994169e-5, -2.720221019e-7});
    return fma(square * square, p, fma(square, -0.5, 1.0));
  }
  const Plain p = polynomial(
      square, {0.0416666666666666666, -0.0013888888888888872, 0.0000248015873015696873, -2.75573192146308719e-7,
               2.08767542044478545e-9, -1.14702755059971376e-11, 4.7373309743916183e-14});
  const Plain half = square * 0.5, first = 1.0 - half;
  return first + ((1.0 - first - half) + fma(square * square, p, -(r * q.low)));
}

/// sin(x + turns pi/2). For f32, computed in f64 with polynomials for f32: this takes fewer steps than pairs of f32,
/// and nearly always gives the f32 nearest to the true value.
Plain sine_in_quadrant(Plain x, int64_t turns) {
  const bool is_for_f32 = is_f32(x);
  const Quadrant q = quadrant(x.to(ElementType::kF64), is_for_f32);
  const Plain n = turns == 0 ? q.n : q.n + turns;
  const Plain value = select((n & 1) == 0, sine_near_zero(q, is_for_f32), cosine_near_zero(q, is_for_f32));
  // the second of n's bits negates
  const Plain flip = (n & 2) << (n.width() - 2);
  return (bits_of(value) ^ flip).as(ElementType::kF64).to(x.type());
}

}  // namespace

Plain sine(Plain x) { return select(x == 0.0, x, sine_in_quadrant(x, 0)); }

Plain cosine(Plain x) { return sine_in_quadrant(x, 1); }

Plain tangent(Plain x) {
  if (is_f32(x)) return in_f64(tangent, x);
  const Quadrant q = quadrant(x, false);
  const Plain s = sine_near_zero(q, false), c = cosine_near_zero(q, false);
  const Plain odd = (q.n & 1) != 0;
  return select(x == 0.0, x, select(odd, -c, s) / select(odd, s, c));
}

}  // namespace lowtide::engine
