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

/// All of them from two tables of about sqrt(n): one product for each.
class Roots {
 public:
  explicit Roots(int64_t n);
  Wave operator[](int64_t k) const {
    return coarse_[static_cast<size_t>(k >> shift_)] * fine_[static_cast<size_t>(k & mask_)];
  }

 private:
  int shift_ = 0;
  int64_t mask_ = 0;
  std::vector<Wave> coarse_, fine_;
};

/// Lengths whose prime factors are all up to here are transformed by factors, others by convolution.
constexpr int64_t kLargestFactor = 31;

/// Factors that there are butterflies for, whose product is n; none where a prime is too large, or n is 1.
std::vector<int64_t> fft_factors(int64_t n);
bool has_fft_factors(int64_t n);
/// Relative costs of a transform of this length, for one element of it.
double fft_cost(int64_t n);
/// The cheapest length from `least` on to compute a convolution with.
int64_t convolution_length(int64_t least);

}  // namespace lowtide::engine
