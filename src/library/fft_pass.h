#pragma once
/// Discrete Fourier transforms along one dimension of a row-major array.

#include <cstdint>
#include <memory>

#include "base/thread_pool.h"

namespace lowtide::engine {

/// Describes the lines to transform: `outer` x `inner` lines, whose elements are `inner` apart.
struct FftAlong {
  enum class Numbers { kComplex, kFromReal, kToReal };

  Numbers numbers = Numbers::kComplex;
  bool inverse = false;
  int64_t outer = 1, inner = 1;  ///< inner is 1 if one side is real
  int64_t length = 1;            ///< of the transform
  /// Stored elements of a line: a transform of real numbers stores only its first half.
  int64_t read() const { return numbers == Numbers::kToReal ? length / 2 + 1 : length; }
  int64_t written() const { return numbers == Numbers::kFromReal ? length / 2 + 1 : length; }
  int64_t lines() const { return outer * inner; }
  /// Real lines of even length are transformed as complex ones of half the length.
  bool by_halves() const { return numbers != Numbers::kComplex && length % 2 == 0; }
  int64_t complex_length() const { return by_halves() ? length / 2 : length; }
  double scale() const { return inverse ? 1 / static_cast<double>(length) : 1; }

  int64_t first_element(int64_t line, int64_t extent) const { return line / inner * extent * inner + line % inner; }

  /// Loads element i of a line that is transformed as a whole; an inverse transform exchanges real and imaginary parts.
  /// `from` holds pairs, or real numbers.
  template <class R>
  void load(const R* from, int64_t line, int64_t i, R& re, R& im) const {
    const bool is_mirror = numbers == Numbers::kToReal && i >= read();
    const int64_t at = first_element(line, read()) + (is_mirror ? length - i : i) * inner;
    R parts[2] = {numbers == Numbers::kFromReal ? from[at] : from[2 * at],
                  numbers == Numbers::kFromReal ? R{} : from[2 * at + 1]};
    if (is_mirror) parts[1] = -parts[1];
    if (numbers == Numbers::kToReal && (i == 0 || 2 * i == length)) parts[1] = 0;
    re = parts[inverse], im = parts[!inverse];
  }
  /// Stores element i of the result of such a transform, which must be one of the stored elements.
  template <class R>
  void store(R re, R im, R* to, int64_t line, int64_t i) const {
    const int64_t at = first_element(line, written()) + i * inner;
    R parts[2] = {inverse ? im : re, inverse ? re : im};
    if (numbers == Numbers::kFromReal && i == 0) parts[1] = 0;
    if (numbers == Numbers::kToReal) {
      to[at] = parts[0];
    } else {
      to[2 * at] = parts[0], to[2 * at + 1] = parts[1];
    }
  }
};

class FftPass {
 public:
  virtual ~FftPass() = default;
  virtual int64_t scratch_bytes() const = 0;
  /// Computes the tables of roots, before the first run.
  virtual void prepare() = 0;
  /// Transforms all lines; `to` may be `from` if both are complex.
  virtual void run(const void* from, void* to, void* scratch, ThreadPool& pool) = 0;
};

/// R: float or double, the type of the array. Transforms as many lines at once as a vector has lanes: for columns, and
/// for short lines.
template <class R>
std::unique_ptr<FftPass> make_fft_by_lanes(const FftAlong& along);
/// Transforms one line after another, of any length; threads share long lines.
template <class R>
std::unique_ptr<FftPass> make_fft_by_lines(const FftAlong& along);

}  // namespace lowtide::engine
