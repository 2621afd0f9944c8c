#pragma once
/// Numbers of 113 bits, with the functions that the C library has of them, and pairs of them as complex numbers.

using Quad = __float128;

// The C library's header hides these from some compilers; the library has them for all.
extern "C" {
Quad asinhf128(Quad) noexcept;
Quad atan2f128(Quad, Quad) noexcept;
Quad cbrtf128(Quad) noexcept;
Quad cosf128(Quad) noexcept;
Quad coshf128(Quad) noexcept;
Quad expf128(Quad) noexcept;
Quad expm1f128(Quad) noexcept;
Quad fabsf128(Quad) noexcept;
Quad frexpf128(Quad, int*) noexcept;
Quad hypotf128(Quad, Quad) noexcept;
Quad ldexpf128(Quad, int) noexcept;
Quad log1pf128(Quad) noexcept;
Quad logf128(Quad) noexcept;
Quad sinf128(Quad) noexcept;
Quad sinhf128(Quad) noexcept;
Quad sqrtf128(Quad) noexcept;
}

namespace lowtide::engine {

struct QuadComplex {
  Quad re = 0, im = 0;
};
inline QuadComplex operator+(QuadComplex a, QuadComplex b) { return {a.re + b.re, a.im + b.im}; }
inline QuadComplex operator-(QuadComplex a, QuadComplex b) { return {a.re - b.re, a.im - b.im}; }
inline QuadComplex operator-(QuadComplex a) { return {-a.re, -a.im}; }
inline QuadComplex operator*(QuadComplex a, QuadComplex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline QuadComplex operator*(QuadComplex a, Quad b) { return {a.re * b, a.im * b}; }
/// The squares of all f64 are in range.
inline QuadComplex operator/(QuadComplex a, QuadComplex b) {
  const Quad square = b.re * b.re + b.im * b.im;
  return {(a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square};
}
inline Quad size_of(QuadComplex z) { return hypotf128(z.re, z.im); }

}  // namespace lowtide::engine
