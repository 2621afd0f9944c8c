#include "library/fft_roots.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "library/vectors.h"

namespace lowtide::engine {

/// Reduces k to the first octant, so that the angle is small and symmetries are exact.
Wave root_of_unity(int64_t k, int64_t n) {
  if (8 * k > 4 * n) return conjugate(root_of_unity(n - k, n));
  if (8 * k > 2 * n) {
    const Wave quarter = root_of_unity(4 * k - n, 4 * n);  // k - n/4
    return {quarter.im, -quarter.re};
  }
  if (8 * k > n) {
    const Wave mirrored = root_of_unity(n - 4 * k, 4 * n);  // n/4 - k
    return {-mirrored.im, -mirrored.re};
  }
  const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), -std::sin(angle)};
}

Roots::Roots(int64_t n) {
  shift_ = (std::bit_width(static_cast<uint64_t>(n)) + 1) / 2;
  const int64_t step = int64_t{1} << shift_;
  mask_ = step - 1;
  for (int64_t k = 0; k < std::min(step, n); ++k) fine_.push_back(root_of_unity(k, n));
  for (int64_t k = 0; k < n; k += step) coarse_.push_back(root_of_unity(k, n));
}

namespace {

/// Factors of 2^twos: as few passes as possible, with a factor 2 only if needed. A butterfly of eight elements needs
/// more registers than machines without AVX-512 have.
void factor_twos(int twos, std::vector<int64_t>& factors) {
  int eights = widest_vector() == 64 ? twos / 3 : 0;
  while (eights > 0 && (twos - 3 * eights) % 2 != 0) --eights;
  factors.insert(factors.end(), static_cast<size_t>(eights), 8);
  twos -= 3 * eights;
  factors.insert(factors.end(), static_cast<size_t>(twos / 2), 4);
  if (twos % 2 != 0) factors.push_back(2);
}

}  // namespace

std::vector<int64_t> fft_factors(int64_t n) {
  std::vector<int64_t> factors;
  const int twos = n > 0 ? std::countr_zero(static_cast<uint64_t>(n)) : 0;
  factor_twos(twos, factors);
  n >>= twos;
  for (const int64_t p : {3, 5}) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  for (int64_t p = 7; n > 1; p += 2) {
    if (p > kLargestFactor) return {};
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  return factors;
}

bool has_fft_factors(int64_t n) { return n == 1 || !fft_factors(n).empty(); }

/// Counts two loads and stores of each element, and the additions and products of its butterfly.
double fft_cost(int64_t n) {
  double cost = 0;
  for (const int64_t factor : fft_factors(n)) {
    switch (factor) {
      case 2: cost += 5; break;
      case 3: cost += 7; break;
      case 4: cost += 6; break;
      case 5: cost += 9; break;
      case 8: cost += 7; break;
      default: cost += 4 + 2 * static_cast<double>(factor);
    }
  }
  return cost;
}

int64_t convolution_length(int64_t least) {
  int64_t best = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least)));
  double best_cost = static_cast<double>(best) * fft_cost(best);
  // Products of 2, 3 and 5 with enough factors of two to fill vectors.
  for (int64_t fives = 1; fives < 2 * least; fives *= 5) {
    for (int64_t odd = fives; odd < 2 * least; odd *= 3) {
      int64_t length = 16 * odd;
      while (length < least) length *= 2;
      const double cost = static_cast<double>(length) * fft_cost(length);
      if (cost < best_cost) best = length, best_cost = cost;
    }
  }
  return best;
}

}  // namespace lowtide::engine
