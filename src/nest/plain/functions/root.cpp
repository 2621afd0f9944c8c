/// Roots.

#include "nest/plain/functions.h"

namespace lowtide::engine {

Plain reciprocal_root(Plain x) {
  const Plain root = square_root(x), rough = 1.0 / root;
  // x = root^2 + missing and 1 = root rough + rest, both exact
  const Plain missing = fma(-root, root, x), rest = fma(-root, rough, 1.0);
  const Plain better = fma(rough, fma(missing * rough * -0.5, rough, rest), rough);
  return select((rough > 0.0) & (rough < infinity()), better, rough);
}

Plain cube_root(Plain x) {
  if (is_f32(x)) return in_f64(cube_root, x);
  // |x| = 2^(3 q) m with m in [3/8, 3)
  const Plain magnitude = absolute(x);
  const Plain tiny = magnitude < 0x1p-1022;
  const Plain normal = select(tiny, magnitude * 0x1p54, magnitude);
  const Plain raw = bits_of(normal);
  const Plain k = shift_right_arithmetic(raw - int64_t{0x3fe8000000000000}, 52);
  const Nearest q = nearest_multiple(float_of_small(k), 1.0 / 3.0);
  const Plain m = (raw - ((q.integer * 3) << 52)).as(x.type());
  // A parabola within 4 %, two steps of Halley's, one of Newton's
  Plain y = polynomial(m, {0.50318, 0.575, -0.0792});
  for (int step = 0; step < 2; ++step) {
    const Plain cube = y * y * y;
    y = y * ((cube + m + m) / (cube + cube + m));
  }
  const Plain square = y * y;
  y = y - fma(square, y, -m) / (square * 3.0);
  const Plain result = y * power_of_two(select(tiny, q.integer - 18, q.integer));
  const Plain special = (x == 0.0) | !(magnitude < infinity());
  return select(special, x, with_sign_of(result, x));
}

Plain hypotenuse(Plain x, Plain y) {
  const Plain a = absolute(x), b = absolute(y);
  if (is_f32(x)) {
    const Plain u = a.to(ElementType::kF64), v = b.to(ElementType::kF64);
    const Plain result = square_root(fma(u, u, v * v)).to(x.type());
    return select((a == infinity()) | (b == infinity()), infinity(), result);
  }
  const Plain most = select(a > b, a, b);
  const Plain up = most < 0x1p-400, down = most > 0x1p400;
  const Plain scale = select(up, 0x1p600, select(down, 0x1p-600, x.constant(1.0)));
  const Plain back = select(up, 0x1p-600, select(down, 0x1p600, x.constant(1.0)));
  const Plain u = a * scale, v = b * scale;
  const Plain result = square_root(fma(u, u, v * v)) * back;
  return select((a == infinity()) | (b == infinity()), infinity(), result);
}

}  // namespace lowtide::engine
