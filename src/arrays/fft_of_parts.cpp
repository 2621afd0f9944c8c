// Short-time Fourier transforms.
#include <cmath>

#include "arrays/support.h"
#include "lowtide/fft.h"
#include "lowtide/ops.h"

namespace lowtide::fft {

using namespace lazy;

namespace {

struct Parts {
  int64_t length = 0, hop = 0;
  array window;  ///< `length` elements
};

Parts parts_of(std::string_view name, int64_t n_fft, const std::optional<int>& hop_length,
               const std::optional<int>& win_length, const std::optional<array>& window, StreamOrDevice s) {
  if (n_fft < 1) fault(name, "found n_fft {}, expected 1 or more", n_fft);
  const int64_t hop = hop_length ? *hop_length : n_fft / 4;
  if (hop < 1) fault(name, "found a hop of {} elements, expected 1 or more", hop);
  if (window && (window->ndim() != 1 || !issubdtype(window->dtype(), floating)))
    fault(name, "found a window of {} of shape {}, expected a vector of floats", dtype_to_string(window->dtype()),
          to_string(window->shape()));
  const int64_t width = window ? window->shape(0) : win_length ? *win_length : n_fft;
  if (width < 0 || width > n_fft) fault(name, "found a window of {} elements, expected at most {}", width, n_fft);
  const array shape = window ? as_type(*window, float32, s) : constant(1, float32, {width}, s);
  const int64_t before = (n_fft - width) / 2;
  return {n_fft, hop, pad_with(shape, constant(0, float32, {}, s), {before}, {n_fft - width - before}, {0}, s)};
}

/// The index in the signal of each element of each part.
array places(int64_t parts, const Parts& of, StreamOrDevice s) {
  const Shape shape = {parts, of.length};
  return counter(shape, int64, 0, s) * constant(static_cast<double>(of.hop), int64, {}, s) +
         counter(shape, int64, 1, s);
}

}  // namespace

array stft(const array& x, int n_fft, const std::optional<int>& hop_length, const std::optional<int>& win_length,
           const std::optional<array>& window, bool center, const std::string& pad_mode, FFTNorm norm,
           const std::optional<bool>& onesided, StreamOrDevice s) {
  if (x.ndim() == 0) fault("stft", "found a scalar, expected a signal");
  const Parts of = parts_of("stft", n_fft, hop_length, win_length, window, s);
  const bool is_complex = x.dtype().val == Dtype::Val::complex64, is_half = onesided.value_or(!is_complex);
  if (is_half && is_complex) fault("stft", "found complex64, expected real numbers where it is onesided");
  const Shape wide = {n_fft / 2};
  array signal = is_complex ? x : as_type(x, float32, s);
  if (center) signal = pad(signal, std::vector<int>{-1}, wide, wide, constant(0, signal.dtype(), {}, s), pad_mode, s);
  if (signal.shape(-1) < n_fft) fault("stft", "found {} elements, expected at least {}", signal.shape(-1), n_fft);
  const int64_t count = (signal.shape(-1) - n_fft) / of.hop + 1;
  const array parts = take(signal, places(count, of, s), -1, s) * of.window;
  const array made = is_half ? rfft(parts, -1, norm, s) : fft(parts, -1, norm, s);
  return swapaxes(made, -1, -2, s);
}

array istft(const array& stft_matrix, const std::optional<int>& n_fft, const std::optional<int>& hop_length,
            const std::optional<int>& win_length, const std::optional<array>& window, bool center, FFTNorm norm,
            const std::optional<bool>& onesided, const std::optional<int>& length, StreamOrDevice s) {
  if (stft_matrix.ndim() < 2 || stft_matrix.size() == 0)
    fault("istft", "found an array of shape {}, expected (..., frequencies, parts)", to_string(stft_matrix.shape()));
  const bool is_half = onesided.value_or(true);
  const int64_t frequencies = stft_matrix.shape(-2), count = stft_matrix.shape(-1);
  const Parts of = parts_of("istft",
                            n_fft     ? *n_fft
                            : is_half ? 2 * (frequencies - 1)
                                      : frequencies,
                            hop_length, win_length, window, s);
  const array lines = swapaxes(stft_matrix, -1, -2, s);
  const array parts = (is_half ? irfft(lines, of.length, -1, norm, s) : real(ifft(lines, of.length, -1, norm, s), s));
  // Overlapping parts, and the squares of their windows, are each summed per element of the signal.
  const int64_t whole = (count - 1) * of.hop + of.length;
  Shape signals(parts.shape().begin(), parts.shape().end() - 2);
  const int64_t many = element_count(signals);
  const array place = places(count, of, s);
  const auto summed = [&](const array& values, int64_t rows) {
    const array flat =
        reshape_to(broadcast_as("istft", values, {rows, count, of.length}, s), {rows, count * of.length}, s);
    return scatter_add_axis(constant(0, float32, {rows, whole}, s),
                            broadcast_as("istft", reshape_to(place, {1, count * of.length}, s), flat.shape(), s), flat,
                            1, s);
  };
  const array sum = summed(reshape_to(parts * of.window, {many, count, of.length}, s), many);
  const array weight = maximum(summed(square(of.window, s), 1), constant(1e-8, float32, {}, s), s);
  const int64_t cut = center ? of.length / 2 : 0, first = std::min(cut, whole);
  const int64_t wanted = std::max<int64_t>(0, length ? *length : whole - 2 * cut);
  const int64_t stop = std::min(whole, first + wanted);
  const array signal = pad_with(slice_of(sum / weight, {0, first}, {many, stop}, {1, 1}, s),
                                constant(0, float32, {}, s), {0, 0}, {0, first + wanted - stop}, {0, 0}, s);
  signals.push_back(wanted);
  return reshape_to(signal, signals, s);
}

}  // namespace lowtide::fft
