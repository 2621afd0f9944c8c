#include "library/fft_chirp.h"

#include <algorithm>

#include "library/vectors.h"

namespace lowtide::engine {
namespace {

/// a[i] *= b[i]
template <class R>
LT_INLINE inline void multiply(R* re, R* im, const R* by_re, const R* by_im, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const R a = re[i], b = im[i];
    re[i] = a * by_re[i] - b * by_im[i];
    im[i] = a * by_im[i] + b * by_re[i];
  }
}

}  // namespace

template <class R>
ChirpFft<R>::ChirpFft(int64_t length, int64_t blocks)
    : length_(length), inner_(convolution_length(2 * length - 1), blocks), roots_(2 * length) {}

/// The chirp exp(-pi i k^2 / length), then the transform of its conjugate, which is symmetric, over the inner length.
template <class R>
void ChirpFft<R>::fill_table(R* table, const FftRoom<R>& room) const {
  R* chirp_re = table;
  R* chirp_im = table + length_;
  R* filter = table + 2 * length_;
  const int64_t inner = inner_.length();
  std::fill_n(filter, 2 * inner, R{});
  const double scale = 1 / static_cast<double>(inner);
  // k^2 modulo 2 length, step by step: the squares of long lines exceed 64 bits
  for (int64_t k = 0, square = 0; k < length_; square = (square + 2 * k + 1) % (2 * length_), ++k) {
    const Wave root = roots_[square];
    chirp_re[k] = static_cast<R>(root.re);
    chirp_im[k] = static_cast<R>(root.im);
    for (const int64_t at : {k, (inner - k) % inner}) {
      filter[at] = static_cast<R>(root.re * scale);
      filter[inner + at] = static_cast<R>(-root.im * scale);
    }
  }
  inner_.run(parts(static_cast<const R*>(filter)), R{1}, parts(filter), room);
}

template <class R>
void ChirpFft<R>::run(const R* table, R* line, const FftRoom<R>& room) const {
  const int64_t inner = inner_.length();
  const R* filter = table + 2 * length_;
  R *re = line, *im = line + inner;
  with_vectors([&]<int>() LT_INLINE { multiply(re, im, table, table + length_, length_); });
  std::fill(re + length_, re + inner, R{});
  std::fill(im + length_, im + inner, R{});
  inner_.run(parts(static_cast<const R*>(line)), R{1}, parts(line), room);
  with_vectors([&]<int>() LT_INLINE { multiply(re, im, filter, filter + inner, inner); });
  inner_.run(parts(static_cast<const R*>(line)).exchanged(), R{1}, parts(line).exchanged(), room);
  with_vectors([&]<int>() LT_INLINE { multiply(re, im, table, table + length_, length_); });
}

template class ChirpFft<float>;
template class ChirpFft<double>;

}  // namespace lowtide::engine
