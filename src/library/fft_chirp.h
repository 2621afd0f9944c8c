#pragma once
/// Discrete Fourier transforms of lengths with large prime factors, as a convolution with a chirp (Bluestein, 1970).

#include <cstdint>

#include "library/fft_line.h"
#include "library/fft_roots.h"

namespace lowtide::engine {

/// R: float or double, in which it is computed.
template <class R>
class ChirpFft {
 public:
  /// blocks: as of LineFft.
  ChirpFft(int64_t length, int64_t blocks);

  /// Of the convolution: a line takes room for as many numbers, real parts first.
  int64_t inner_length() const { return inner_.length(); }
  /// Numbers in a table, which all lines share.
  static int64_t table_size(int64_t length) { return 2 * length + 2 * convolution_length(2 * length - 1); }
  /// `room` is for the inner length.
  void fill_table(R* table, const FftRoom<R>& room) const;
  /// The line's first elements are those of the transform, before and after; the others are room.
  void run(const R* table, R* line, const FftRoom<R>& room) const;

 private:
  LineView<R> parts(R* line) const { return {line, line + inner_.length(), 1}; }
  LineView<const R> parts(const R* line) const { return {line, line + inner_.length(), 1}; }

  int64_t length_;
  LineFft<R> inner_;
  Roots roots_;  ///< of twice the length
};

}  // namespace lowtide::engine
