#include "nest/plain/plain.h"

namespace lowtide {

Plain polynomial(Plain x, std::span<const double> coefficients) {
  Plain sum = x.constant(coefficients.back());
  for (size_t i = coefficients.size() - 1; i > 0; --i) sum = fma(sum, x, coefficients[i - 1]);
  return sum;
}

Plain with_sign_of(Plain magnitude, Plain sign) {
  const Plain bits = bits_of(magnitude);
  const int64_t mask = bits.width() == 64 ? INT64_MIN : INT32_MIN;
  return ((bits & ~mask) | (bits_of(sign) & mask)).as(magnitude.type());
}

Plain power_of_two(Plain n) {
  const bool wide = n.width() == 64;
  return ((n + (wide ? 1023 : 127)) << (wide ? 52 : 23)).as(float_like(n.type()));
}

Plain scaled(Plain x, Plain n) {
  const Plain half = shift_right_arithmetic(n, 1);
  return x * power_of_two(half) * power_of_two(n - half);
}

}  // namespace lowtide
