/// x^y = e^(y log x), or products and roots for some known y, with the special values of C's pow.

#include <cmath>
#include <optional>

#include "nest/plain/functions.h"

namespace lowtide::engine {
namespace {

/// A number as the sum of two floats, the first rounded to nearest.
struct Double {
  Plain high, low;
};

/// log x to about 70 bits, for x > 0: Dekker's arithmetic for all but the tail of 2 atanh((m - 1)/(m + 1)).
Double exact_logarithm(Plain x) {
  const Plain tiny = x < 0x1p-1022;
  const Plain normal = select(tiny, x * 0x1p52, x);
  const Plain raw = bits_of(normal);
  const Plain shifted = shift_right_arithmetic(raw - int64_t{0x3fe6a09e667f3bcd}, 52);  // m in [sqrt(1/2), sqrt(2))
  const Plain f = (raw - (shifted << 52)).as(x.type()) - 1.0;
  const Plain number = float_of_small(shifted);
  const Plain k = select(tiny, number - 52.0, number);

  const Plain d = f + 2.0, d_low = f - (d - 2.0);
  const Plain s = f / d;
  const Plain s_low = fma(-s, d_low, fma(-s, d, f)) / d;
  const Plain square = s * s;
  const Plain square_low = fma(s + s, s_low, fma(s, s, -square));
  const Plain cube = square * s;
  const Plain cube_low = fma(square, s, -cube) + fma(square, s_low, square_low * s);
  constexpr double kTwoThirds = 0x1.5555555555555p-1, kTwoThirdsLow = 0x1.5555555555555p-55;
  const Plain third = cube * kTwoThirds;
  const Plain p =
      polynomial(square, {0.399999999999999765, 0.285714285714457632, 0.222222222173782493, 0.181818188897036562,
                          0.15384555549704082, 0.133363682006372279, 0.116737886644335212, 0.119975821294936455});
  const Plain third_low =
      fma(cube, kTwoThirds, -third) + fma(cube, kTwoThirdsLow, fma(cube_low, kTwoThirds, cube * square * p));
  const Plain twice = s + s;
  const Plain h = twice + third;
  const Plain l = (twice - h) + third + (s_low + s_low + third_low);

  const Plain log2 = k * 0x1.62e42fefa38p-1;
  const Plain sum = log2 + h;
  const Plain part = sum - log2;
  const Plain lost = (log2 - (sum - part)) + (h - part);
  const Plain low = lost + fma(k, 0x1.ef35793c7673p-45, l);  // up to 2^-12 of the sum
  const Plain high = sum + low;
  return {high, low - (high - sum)};
}

/// x^y for x >= 0 and a known exponent that is a multiple of a quarter, by products and roots in f64, whose exponents
/// suffice for eighth powers of f32. Nothing for other exponents.
std::optional<Plain> power_by_roots(Plain x, double y) {
  const double quarters = 4 * std::fabs(y);
  if (quarters != std::floor(quarters) || quarters == 0 || quarters > 32) return {};
  std::optional<Plain> product;
  const auto multiply = [&](Plain factor) { product = product ? *product * factor : factor; };
  const auto count = static_cast<int>(quarters);
  Plain factor = x.to(ElementType::kF64);
  if (count & 3) {
    const Plain root = square_root(factor);
    if (count & 2) multiply(root);
    if (count & 1) multiply(square_root(root));
  }
  for (int whole = count / 4; whole > 0; whole /= 2) {
    if (whole & 1) multiply(factor);
    if (whole > 1) factor = factor * factor;
  }
  return (y < 0 ? 1.0 / *product : *product).to(x.type());
}

Plain power_of_magnitude(Plain x, Plain y) {
  if (is_f32(x)) {
    const std::optional<double> known = known_number(y);
    const std::optional<Plain> by_roots = known ? power_by_roots(x, *known) : std::nullopt;
    if (by_roots) return *by_roots;
    const Plain product = y.to(ElementType::kF64) * logarithm(x.to(ElementType::kF64));
    return exponential(product).to(x.type());
  }
  const Double log = exact_logarithm(x);
  const Plain high = select(x == 0.0, -infinity(), select(x < infinity(), log.high, x));
  const Plain product = y * high;
  const Plain rest = fma(y, high, -product) + y * log.low;
  const Plain moderate = absolute(product) < 760.0;
  const Plain whole = exponential(product);
  // e^(p + r) = e^p + e^p r
  return select(moderate & (whole < infinity()), fma(whole, rest, whole), whole);
}

}  // namespace

Plain power(Plain x, Plain y) {
  const Plain result = power_of_magnitude(absolute(x), y);
  const Plain half = y * 0.5;
  const Plain whole = y == y.apply(Opcode::kFloor);
  const Plain odd = whole & (half != half.apply(Opcode::kFloor));
  const Plain sign = select(odd, x, 1.0);
  const Plain real = select((x < 0.0) & (x > -infinity()) & !whole, not_a_number(), with_sign_of(result, sign));
  const Plain one = (y == 0.0) | (x == 1.0) | ((x == -1.0) & (absolute(y) == infinity()));
  return select(one, 1.0, select(is_nan(x) | is_nan(y), x + y, real));
}

}  // namespace lowtide::engine
