#pragma once
/// Roots of unity and the factors of lengths, for discrete Fourier transforms.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lowtide::engine {

/// A complex number; plain, so that products have no special cases for infinities.
struct Wave {
  double re = 0, im = 0;
};
inline Wave operator*(Wave a, Wave b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
inline Wave conjugate(Wave a) { return {a.re, -a.im}; }

/// exp(-2 pi i k / n) for 0 <= k < n.
Wave root_of_unity(int64_t k, int64_t n);

/// All these roots from two tables of about sqrt(n) entries, with one product each.
class Roots {
 public:
  explicit Roots(int64_t n);
  Wave operator[](int64_t k) const { return coarse_[k >> shift_] * fine_[k & mask_]; }

 private:
  int shift_ = 0;
  int64_t mask_ = 0;
  std::vector<Wave> coarse_, fine_;
};

/// Lengths whose prime factors are all at most this are transformed by factors, others by convolution.
constexpr int64_t kLargestFactor = 31;

/// The factors by which a transform of length n is divided; none if a prime factor is too large, or n is 1.
std::vector<int64_t> fft_factors(int64_t n);
bool has_fft_factors(int64_t n);
/// Relative cost of a transform of this length, per element.
double fft_cost(int64_t n);
/// The length, at least `least`, with which a convolution is cheapest.
int64_t convolution_length(int64_t least);

}  // namespace lowtide::engine
