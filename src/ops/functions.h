#pragma once
/// Functions of real and complex numbers that C++ lacks or defines otherwise. R is double or long double.

#include <cmath>
#include <complex>
#include <limits>

namespace lowtide::engine {

inline double cube_root(double x) { return std::cbrt(x); }
template <class R>
std::complex<R> cube_root(std::complex<R> z) {
  return z == R(0) ? z : std::pow(z, R(1) / R(3));
}

/// e^x as in XLA:CPU's vector code, accurate to two units in the last place: x = n log 2 + r, with a polynomial for e^r
/// (the Cephes library's expf) and fused multiply-adds. Expected results stored in programs were computed this way.
inline float exponential(float x) {
  if (!(x > -104.0f)) return x != x ? x : 0.0f;  // below half the smallest denormal
  if (x > 89.0f) return std::numeric_limits<float>::infinity();
  const float n = std::floor(std::fma(x, 1.44269504088896341f, 0.5f));
  const float r = std::fma(-n, -2.12194440e-4f, std::fma(-n, 0.693359375f, x));
  float y = 1.9875691500e-4f;
  for (const float c : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f}) {
    y = std::fma(y, r, c);
  }
  y = std::fma(y, r * r, r) + 1.0f;
  return static_cast<float>(std::ldexp(static_cast<double>(y), static_cast<int>(n)));
}

/// e^x - 1: computed from e^x unless the subtraction would cancel.
inline float exp_minus_one(float x) {
  return std::fabs(x) < 0.5f ? static_cast<float>(std::expm1(static_cast<double>(x))) : exponential(x) - 1.0f;
}

inline double exp_minus_one(double x) { return std::expm1(x); }
/// e^z - 1 = (expm1(x) cos y - 2 sin(y/2)^2) + i e^x sin y: neither part cancels near zero.
template <class R>
std::complex<R> exp_minus_one(std::complex<R> z) {
  const R x = z.real(), y = z.imag();
  if (y == 0) return {std::expm1(x), y};
  const R half = std::sin(y / 2);
  return {std::expm1(x) * std::cos(y) - 2 * half * half, std::exp(x) * std::sin(y)};
}

inline double log_plus_one(double x) { return std::log1p(x); }
/// log |1 + z| = log1p(x (2 + x) + y^2) / 2 where |1 + z| is near one.
template <class R>
std::complex<R> log_plus_one(std::complex<R> z) {
  const R x = z.real(), y = z.imag();
  const bool near_one = std::abs(x) < R(0.5) && std::abs(y) < R(0.5);
  return {near_one ? std::log1p(x * (2 + x) + y * y) / 2 : std::log(std::hypot(1 + x, y)), std::atan2(y, 1 + x)};
}

/// 1 / (1 + e^-x)
template <class T>
T logistic(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

template <class T>
T reciprocal_root(T x) {
  return T(1) / std::sqrt(x);
}

/// The angle of x + i y; for complex arguments -i log((x + i y) / sqrt(x^2 + y^2)).
inline double arc_tangent(double y, double x) { return std::atan2(y, x); }
template <class R>
std::complex<R> arc_tangent(std::complex<R> y, std::complex<R> x) {
  const std::complex<R> i(0, 1);
  return -i * std::log((x + i * y) / std::sqrt(x * x + y * y));
}

inline double power(double x, double y) { return std::pow(x, y); }
template <class R>
std::complex<R> power(std::complex<R> x, std::complex<R> y) {
  if (y == R(0)) return 1;
  if (x == R(0) && y.real() > 0) return 0;
  return std::pow(x, y);
}

/// 1, 0 or -1; z / |z| for a complex number. Zeros keep their sign, and NaN stays NaN.
inline double sign(double x) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x); }
template <class R>
std::complex<R> sign(std::complex<R> z) {
  return z == R(0) ? z : z / std::abs(z);
}

}  // namespace lowtide::engine
