#pragma once
/// Discrete Fourier transforms of as many lines at once as a vector has lanes, where they lie: decimation in frequency
/// (Gentleman and Sande, 1966) by factors 8, 4, 2, 3, 5 and other small primes. Results stand in the order of reversed
/// digits; whoever reads them asks for their places, which costs nothing where rows are moved anyway.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "library/vectors.h"

namespace lowtide::engine {

/// R: float or double, in which it is computed.
template <class R>
class LaneFft {
 public:
  /// Lines beside each other: 64 bytes of real parts, then as many of imaginary ones, are a row.
  static constexpr int64_t kLanes = kWidestVector / static_cast<int64_t>(sizeof(R));
  static constexpr int64_t kRow = 2 * kLanes;

  /// length: a product of factors (fft_factors), or 1.
  explicit LaneFft(int64_t length);

  int64_t length() const { return length_; }
  /// X[k] = sum over j of x[j] exp(-2 pi i j k / length), for each lane. x[j] is row j, X[k] then is row place(k).
  /// `rows` is read fastest where it is aligned to 64 bytes.
  void run(R* rows) const;
  int64_t place(int64_t k) const { return places_[static_cast<size_t>(k)]; }

 private:
  struct Pass {
    int64_t factor, length;  ///< of the blocks that it divides
    std::vector<R> turns;    ///< exp(-2 pi i j k / length): k of 1 to factor - 1 after each other, for each j
    std::vector<R> sums;     ///< of a factor without a butterfly: cosine and sine of 2 pi j k / factor, by k and j
  };
  template <int Bytes>
  void divide(const Pass& pass, R* rows, int64_t blocks) const;

  int64_t length_;
  std::vector<Pass> passes_;
  std::vector<int32_t> places_;
};

}  // namespace lowtide::engine
