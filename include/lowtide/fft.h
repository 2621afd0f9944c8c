#pragma once
/// Discrete Fourier transforms: X[k] = sum over j of x[j] exp(-2 pi i j k / n) along each of the axes; the inverse has
/// the other sign. Results are complex64 (float32 for irfft and its variants); they are computed in double precision
/// and rounded once. Axes are distinct; negative ones count from the end; the default is all axes, or the last one for
/// one-dimensional transforms. n: extents along the axes: longer inputs are cropped, shorter ones are padded with 0. An
/// extent below 1 is std::invalid_argument.
///
/// rfft transforms real numbers to the n / 2 + 1 frequencies from 0 on along the last of the axes; irfft transforms
/// these to n real numbers, by default 2 (m - 1) for m frequencies. Names are those of MLX's fft.h.

#include <optional>
#include <string>
#include <vector>

#include "lowtide/array.h"
#include "lowtide/visibility.h"

namespace lowtide::fft {

/// Which direction is scaled: the inverse by 1 / n, both by 1 / sqrt(n), the forward one by 1 / n.
enum class FFTNorm : uint8_t { Backward, Ortho, Forward };

LOWTIDE_PUBLIC array fftn(const array& a, const Shape& n, const std::vector<int>& axes,
                          FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});
LOWTIDE_PUBLIC array fftn(const array& a, const std::vector<int>& axes, FFTNorm norm = FFTNorm::Backward,
                          StreamOrDevice s = {});
LOWTIDE_PUBLIC array fftn(const array& a, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});
LOWTIDE_PUBLIC array ifftn(const array& a, const Shape& n, const std::vector<int>& axes,
                           FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});
LOWTIDE_PUBLIC array ifftn(const array& a, const std::vector<int>& axes, FFTNorm norm = FFTNorm::Backward,
                           StreamOrDevice s = {});
LOWTIDE_PUBLIC array ifftn(const array& a, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});
LOWTIDE_PUBLIC array rfftn(const array& a, const Shape& n, const std::vector<int>& axes,
                           FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});
LOWTIDE_PUBLIC array rfftn(const array& a, const std::vector<int>& axes, FFTNorm norm = FFTNorm::Backward,
                           StreamOrDevice s = {});
LOWTIDE_PUBLIC array rfftn(const array& a, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});
LOWTIDE_PUBLIC array irfftn(const array& a, const Shape& n, const std::vector<int>& axes,
                            FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});
LOWTIDE_PUBLIC array irfftn(const array& a, const std::vector<int>& axes, FFTNorm norm = FFTNorm::Backward,
                            StreamOrDevice s = {});
LOWTIDE_PUBLIC array irfftn(const array& a, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {});

// ---- Along one axis, or two

inline array fft(const array& a, int64_t n, int axis, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {}) {
  return fftn(a, Shape{n}, std::vector<int>{axis}, norm, s);
}
inline array fft(const array& a, int axis = -1, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {}) {
  return fftn(a, std::vector<int>{axis}, norm, s);
}
inline array ifft(const array& a, int64_t n, int axis, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {}) {
  return ifftn(a, Shape{n}, std::vector<int>{axis}, norm, s);
}
inline array ifft(const array& a, int axis = -1, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {}) {
  return ifftn(a, std::vector<int>{axis}, norm, s);
}
inline array rfft(const array& a, int64_t n, int axis, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {}) {
  return rfftn(a, Shape{n}, std::vector<int>{axis}, norm, s);
}
inline array rfft(const array& a, int axis = -1, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {}) {
  return rfftn(a, std::vector<int>{axis}, norm, s);
}
inline array irfft(const array& a, int64_t n, int axis, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {}) {
  return irfftn(a, Shape{n}, std::vector<int>{axis}, norm, s);
}
inline array irfft(const array& a, int axis = -1, FFTNorm norm = FFTNorm::Backward, StreamOrDevice s = {}) {
  return irfftn(a, std::vector<int>{axis}, norm, s);
}
inline array fft2(const array& a, const Shape& n, const std::vector<int>& axes, FFTNorm norm = FFTNorm::Backward,
                  StreamOrDevice s = {}) {
  return fftn(a, n, axes, norm, s);
}
inline array fft2(const array& a, const std::vector<int>& axes = {-2, -1}, FFTNorm norm = FFTNorm::Backward,
                  StreamOrDevice s = {}) {
  return fftn(a, axes, norm, s);
}
inline array ifft2(const array& a, const Shape& n, const std::vector<int>& axes, FFTNorm norm = FFTNorm::Backward,
                   StreamOrDevice s = {}) {
  return ifftn(a, n, axes, norm, s);
}
inline array ifft2(const array& a, const std::vector<int>& axes = {-2, -1}, FFTNorm norm = FFTNorm::Backward,
                   StreamOrDevice s = {}) {
  return ifftn(a, axes, norm, s);
}
inline array rfft2(const array& a, const Shape& n, const std::vector<int>& axes, FFTNorm norm = FFTNorm::Backward,
                   StreamOrDevice s = {}) {
  return rfftn(a, n, axes, norm, s);
}
inline array rfft2(const array& a, const std::vector<int>& axes = {-2, -1}, FFTNorm norm = FFTNorm::Backward,
                   StreamOrDevice s = {}) {
  return rfftn(a, axes, norm, s);
}
inline array irfft2(const array& a, const Shape& n, const std::vector<int>& axes, FFTNorm norm = FFTNorm::Backward,
                    StreamOrDevice s = {}) {
  return irfftn(a, n, axes, norm, s);
}
inline array irfft2(const array& a, const std::vector<int>& axes = {-2, -1}, FFTNorm norm = FFTNorm::Backward,
                    StreamOrDevice s = {}) {
  return irfftn(a, axes, norm, s);
}

// ---- Frequencies and their order

/// The frequencies for n samples spaced d apart, float32: (0, 1, .., -2, -1) / (n d), and those of rfft.
LOWTIDE_PUBLIC array fftfreq(int n, double d = 1.0, StreamOrDevice s = {});
LOWTIDE_PUBLIC array rfftfreq(int n, double d = 1.0, StreamOrDevice s = {});
/// Moves frequency 0 to the middle of the axes, and back.
LOWTIDE_PUBLIC array fftshift(const array& a, const std::vector<int>& axes, StreamOrDevice s = {});
LOWTIDE_PUBLIC array fftshift(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array ifftshift(const array& a, const std::vector<int>& axes, StreamOrDevice s = {});
LOWTIDE_PUBLIC array ifftshift(const array& a, StreamOrDevice s = {});

// ---- Short-time transforms

/// The frequencies of each frame of n_fft elements along the last dimension; frames start at multiples of hop_length
/// (default n_fft / 4) and are multiplied by a window of at most n_fft elements, centred in the frame (default:
/// win_length ones). The result is (..., frequencies, frames), complex64. center: first pads n_fft / 2 elements at both
/// ends, as pad() does with pad_mode. onesided: only the frequencies of rfft, the default for real numbers.
LOWTIDE_PUBLIC array stft(const array& x, int n_fft = 2048, const std::optional<int>& hop_length = {},
                          const std::optional<int>& win_length = {}, const std::optional<array>& window = {},
                          bool center = true, const std::string& pad_mode = "reflect", FFTNorm norm = FFTNorm::Backward,
                          const std::optional<bool>& onesided = {}, StreamOrDevice s = {});
/// The real signal from which stft() was computed: the mean of the overlapping frames, weighted by the squares of their
/// windows, and 0 outside of all windows. length: the number of elements to return, padded with zeros.
LOWTIDE_PUBLIC array istft(const array& stft_matrix, const std::optional<int>& n_fft = {},
                           const std::optional<int>& hop_length = {}, const std::optional<int>& win_length = {},
                           const std::optional<array>& window = {}, bool center = true,
                           FFTNorm norm = FFTNorm::Backward, const std::optional<bool>& onesided = {},
                           const std::optional<int>& length = {}, StreamOrDevice s = {});

}  // namespace lowtide::fft
