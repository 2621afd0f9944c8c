#pragma once
/// Functions of f32 and f64 as plain nodes: branch-free polynomials, our own. f32 within 2 units in the last place, f64
/// within 3 (docs/accuracy.md has the measured errors); denormals, infinities, NaN and the signs of zeros as in IEEE
/// and C. Coefficients come from scripts/fit_polynomials.py.

#include <functional>

#include "nest/plain/plain.h"

namespace lowtide::engine {

Plain exponential(Plain x);
Plain exp_minus_one(Plain x);
Plain logarithm(Plain x);
Plain log_plus_one(Plain x);
Plain logistic(Plain x);
Plain hyperbolic_tangent(Plain x);
Plain hyperbolic_sine(Plain x);
Plain hyperbolic_cosine(Plain x);
Plain area_sine(Plain x);     ///< asinh
Plain area_cosine(Plain x);   ///< acosh
Plain area_tangent(Plain x);  ///< atanh
Plain error_function(Plain x);
Plain sine(Plain x);
Plain cosine(Plain x);
Plain tangent(Plain x);
Plain arc_sine(Plain x);
Plain arc_cosine(Plain x);
Plain arc_tangent(Plain x);
Plain arc_tangent(Plain y, Plain x);  ///< the angle of x + i y
Plain cube_root(Plain x);
Plain reciprocal_root(Plain x);
Plain power(Plain x, Plain y);
Plain float_remainder(Plain x, Plain y);  ///< fmod
Plain hypotenuse(Plain x, Plain y);       ///< sqrt(x^2 + y^2) without overflow on the way

/// x rounded to the nearest integer, |x| < 2^21 (f32), 2^50 (f64): as a float and as an integer of the same width. For
/// other x both are arbitrary.
struct Nearest {
  Plain number, integer;
};
Nearest nearest_multiple(Plain x, double inverse);  ///< of x * inverse

/// e^x for |x| <= 80 (f32), 700 (f64), where it neither overflows nor is denormal.
Plain moderate_exponential(Plain x);

/// log(1 + f) for f in [-1/4, 1/2].
Plain log_near_one(Plain f);
/// k log 2 + log(1 + f), the logarithm of 2^k (1 + f).
Plain log_from_parts(Plain k, Plain f);
/// A small integer as a float of its width.
Plain float_of_small(Plain integer);

/// `fast` or, if `rare` holds, `slow` applied to `arguments`: in a loop that runs once if any lane needs it, and
/// usually not at all; in straight-line code both are computed.
std::vector<Plain> rarely(Plain rare, std::span<const Plain> fast, std::span<const Plain> arguments,
                          const std::function<std::vector<Plain>(std::span<const Plain>)>& slow);

/// f(x) computed in f64 and rounded to x's type: for f32 functions that don't need their own code.
template <class F, class... More>
Plain in_f64(F f, Plain x, More... more) {
  return f(x.to(ElementType::kF64), more.to(ElementType::kF64)...).to(x.type());
}
inline bool is_f32(Plain x) { return x.type() == ElementType::kF32; }

}  // namespace lowtide::engine
