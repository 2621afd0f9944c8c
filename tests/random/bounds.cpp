#include "bounds.h"

#include <algorithm>
#include <cmath>

#include "numbers.h"

namespace lowtide::engine {

bool is_unrounded(ElementType type, const Fact& fact) {
  return fact.exact() && fact.grid != Fact::kNoGrid && fact.grid >= least_grid(type) &&
         std::ldexp(fact.magnitude(), -fact.grid) <= std::ldexp(1.0, precision(type));
}

Maybe rounded(const Shape& shape, Fact fact, double roundings) {
  const ElementType type = shape.type;
  if (is_integral(type) || type == ElementType::kPred) {
    fact.error = 0;
    fact.grid = std::max(fact.grid, 0);
    const Fact any = any_integer(type);
    if (fact.low < any.low || fact.high > any.high || fact.magnitude() > 0x1p52) return any;  // it may have wrapped
    return fact;
  }
  if (!std::isfinite(fact.low) || !std::isfinite(fact.high) || fact.magnitude() > largest_allowed(type)) return {};
  if (roundings > 1 || !is_unrounded(type, fact)) {
    fact.error += roundings * unit_roundoff(type) * (fact.magnitude() + fact.error) + smallest_step(type);
    fact.grid = Fact::kNoGrid;
  }
  // A value whose error is as large as itself proves nothing.
  if (fact.error > largest_error_share(type) * std::max(fact.magnitude(), 1e-2)) return {};
  return fact;
}

Fact interval(double a, double b, double error, int grid) {
  return {.low = std::min(a, b), .high = std::max(a, b), .error = error, .grid = grid, .parts = {}};
}

Fact product(const Fact& a, const Fact& b) {
  const double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  const int grid = a.grid == Fact::kNoGrid || b.grid == Fact::kNoGrid ? Fact::kNoGrid : a.grid + b.grid;
  return interval(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4),
                  a.magnitude() * b.error + b.magnitude() * a.error + a.error * b.error, grid);
}

Fact sum(const Fact& a, const Fact& b) {
  return interval(a.low + b.low, a.high + b.high, a.error + b.error, std::min(a.grid, b.grid));
}

Fact negated(const Fact& a) { return interval(-a.high, -a.low, a.error, a.grid); }

Maybe sum_of(const Shape& shape, const Fact& a, double count) {
  Fact total = interval(std::min(0.0, a.low * count), std::max(0.0, a.high * count), a.error * count, a.grid);
  return rounded(shape, total, is_unrounded(shape.type, total) ? 1 : std::max(2.0, count));
}

Maybe monotone(const Shape& shape, const Fact& a, double (*f)(double), double slope) {
  const Fact result = interval(f(a.low), f(a.high), slope * a.error);
  return rounded(shape, result, transcendental_roundings(shape.type));
}

Fact hull(const Facts& facts, size_t first, size_t last) {
  Fact all = facts[first];
  for (size_t k = first + 1; k < last; ++k) all = either(all, facts[k]);
  return all;
}

}  // namespace lowtide::engine
