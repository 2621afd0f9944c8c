#pragma once
/// Discrete Fourier transforms of lengths with large prime factors, as a convolution with a chirp (Bluestein, 1970).

#include <cstdint>

#include "library/fft_line.h"
#include "library/fft_roots.h"

namespace lowtide::engine {

/// R: float or double, the type of the computation.
template <class R>
class ChirpFft {
 public:
  /// blocks: as in LineFft.
  ChirpFft(int64_t length, int64_t blocks);

  /// Length of the convolution: a line has room for that many complex numbers, real parts first.
  int64_t inner_length() const { return inner_.length(); }
  /// Elements of the table, which all lines share.
  static int64_t table_size(int64_t length) { return 2 * length + 2 * convolution_length(2 * length - 1); }
  /// `room`: scratch for a transform of the inner length.
  void fill_table(R* table, const FftRoom<R>& room) const;
  /// The line's first elements hold the input, and then the result; the others are scratch.
  void run(const R* table, R* line, const FftRoom<R>& room) const;

 private:
  LineView<R> parts(R* line) const { return {line, line + inner_.length(), 1}; }
  LineView<const R> parts(const R* line) const { return {line, line + inner_.length(), 1}; }

  int64_t length_;
  LineFft<R> inner_;
  Roots roots_;  ///< of order 2 length
};

}  // namespace lowtide::engine
