#pragma once
/// Discrete Fourier transforms in place of as many lines at once as a vector has lanes: decimation in frequency
/// (Gentleman and Sande, 1966) by factors 8, 4, 2, 3, 5 and other small primes. Results are in digit-reversed order;
/// callers read them at place(k), which costs nothing if they move rows anyway.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "library/vectors.h"

namespace lowtide::engine {

/// R: float or double, the type of the computation.
template <class R>
class LaneFft {
 public:
  /// A row holds one element of all lines: 64 bytes of real parts, then 64 bytes of imaginary parts.
  static constexpr int64_t kLanes = kWidestVector / static_cast<int64_t>(sizeof(R));
  static constexpr int64_t kRow = 2 * kLanes;

  /// length: a product of factors (fft_factors), or 1.
  explicit LaneFft(int64_t length);

  int64_t length() const { return length_; }
  /// X[k] = sum over j of x[j] exp(-2 pi i j k / length), for each lane. x[j] is row j, and X[k] becomes row place(k).
  /// Fastest if `rows` is aligned to 64 bytes.
  void run(R* rows) const;
  int64_t place(int64_t k) const { return places_[k]; }

 private:
  struct Pass {
    int64_t factor, length;  ///< length: of the blocks that it divides
    std::vector<R> turns;    ///< exp(-2 pi i j k / length): for each j, k from 1 to factor - 1
    std::vector<R> sums;     ///< for a factor without a butterfly: cosine and sine of 2 pi j k / factor, by k and j
  };
  template <int Bytes>
  void divide(const Pass& pass, R* rows, int64_t blocks) const;

  int64_t length_;
  std::vector<Pass> passes_;
  std::vector<int32_t> places_;
};

}  // namespace lowtide::engine
