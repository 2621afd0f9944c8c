// lowtide.fft.
#include "lowtide/fft.h"

#include "bind.h"

namespace lowtide::python {
namespace {

using fft::FFTNorm;
using Along = array (*)(const array&, const Shape&, const std::vector<int>&, FFTNorm, StreamOrDevice);

FFTNorm norm_of(const std::string& name) {
  if (name == "backward") return FFTNorm::Backward;
  if (name == "ortho") return FFTNorm::Ortho;
  if (name == "forward") return FFTNorm::Forward;
  throw std::invalid_argument("fft: found the norm " + name + ", expected backward, ortho or forward");
}

/// NumPy's defaults: if no axes are given, the last axes, one per given extent, or all; if no extents are given, those
/// of the array (for irfft, 2 (n - 1) in the last axis).
array transformed(Along f, const array& a, const std::optional<Shape>& n, const std::optional<std::vector<int>>& given,
                  const std::string& norm, bool is_irfft) {
  std::vector<int> axes = given.value_or(std::vector<int>{});
  if (!given) {
    const int rank = static_cast<int>(a.ndim()), count = n ? static_cast<int>(n->size()) : rank;
    for (int d = count; d > 0; --d) axes.push_back(-d);
  }
  Shape extents = n.value_or(Shape{});
  if (!n) {
    for (const int axis : axes) extents.push_back(a.shape(axis));
    if (is_irfft && !extents.empty()) extents.back() = 2 * (extents.back() - 1);
  }
  return f(a, extents, axes, norm_of(norm), kHere);
}

struct Family {
  const char *one, *two, *all;
  Along f;
  const char* doc;
};
constexpr Family kFamilies[] = {
    {"fft", "fft2", "fftn", fft::fftn, "Frequencies of complex numbers, complex64."},
    {"ifft", "ifft2", "ifftn", fft::ifftn, "What fft was made of, complex64."},
    {"rfft", "rfft2", "rfftn", fft::rfftn, "Frequencies of real numbers, from 0 on along the last axis, complex64."},
    {"irfft", "irfft2", "irfftn", fft::irfftn, "The real numbers that rfft was made of, float32."},
};

}  // namespace

void bind_fft(nb::module_& m) {
  using Extents = std::optional<Shape>;
  using SomeAxes = std::optional<std::vector<int>>;
  for (const auto& [one, two, all_axes, f, doc] : kFamilies) {
    const bool is_irfft = f == Along{fft::irfftn};
    m.def(one,
          of_array<std::optional<int64_t>, int, std::string>(
              [f = f, is_irfft](const array& a, std::optional<int64_t> n, int axis, const std::string& norm) {
                return transformed(f, a, n ? Extents(Shape{*n}) : Extents(), std::vector<int>{axis}, norm, is_irfft);
              }),
          "a"_a, "n"_a = nb::none(), "axis"_a = -1, "norm"_a = "backward", doc);
    const auto many = of_array<Extents, SomeAxes, std::string>(
        [f = f, is_irfft](const array& a, const Extents& n, const SomeAxes& axes, const std::string& norm) {
          return transformed(f, a, n, axes, norm, is_irfft);
        });
    m.def(two, many, "a"_a, "s"_a = nb::none(), nb::arg("axes").none() = std::vector<int>{-2, -1},
          "norm"_a = "backward", doc);
    m.def(all_axes, many, "a"_a, "s"_a = nb::none(), "axes"_a = nb::none(), "norm"_a = "backward", doc);
  }
  using Number = std::optional<int>;
  m.def(
      "stft",
      [](const ArrayLike& x, int n_fft, Number hop, Number width, const std::optional<ArrayLike>& window, bool center,
         const std::string& pad_mode, const std::string& norm, std::optional<bool> onesided) {
        const array a = array_of(x);
        const auto w = window ? std::optional(array_of(*window)) : std::nullopt;
        const FFTNorm by = norm_of(norm);
        return unlocked([&] { return fft::stft(a, n_fft, hop, width, w, center, pad_mode, by, onesided); });
      },
      "x"_a, "n_fft"_a = 2048, "hop_length"_a = nb::none(), "win_length"_a = nb::none(), "window"_a = nb::none(),
      "center"_a = true, "pad_mode"_a = "reflect", "norm"_a = "backward", "onesided"_a = nb::none(),
      "Frequencies of the n_fft elements from each multiple of hop_length (n_fft / 4) on along the last dimension, "
      "times "
      "a window: (..., frequencies, parts), complex64.");
  m.def(
      "istft",
      [](const ArrayLike& x, Number n_fft, Number hop, Number width, const std::optional<ArrayLike>& window,
         bool center, const std::string& norm, std::optional<bool> onesided, Number length) {
        const array a = array_of(x);
        const auto w = window ? std::optional(array_of(*window)) : std::nullopt;
        const FFTNorm by = norm_of(norm);
        return unlocked([&] { return fft::istft(a, n_fft, hop, width, w, center, by, onesided, length); });
      },
      "stft_matrix"_a, "n_fft"_a = nb::none(), "hop_length"_a = nb::none(), "win_length"_a = nb::none(),
      "window"_a = nb::none(), "center"_a = true, "norm"_a = "backward", "onesided"_a = nb::none(),
      "length"_a = nb::none(), "The real signal that stft() was made of, float32.");
  const auto frequencies = [&](const char* name, array (*f)(int, double, StreamOrDevice), const char* doc) {
    m.def(name, [f](int n, double d) { return unlocked([&] { return f(n, d, kHere); }); }, "n"_a, "d"_a = 1.0, doc);
  };
  frequencies("fftfreq", fft::fftfreq, "Frequencies of n samples that are d apart, float32.");
  frequencies("rfftfreq", fft::rfftfreq, "Those of rfft, float32.");
  m.def("fftshift", of_array<Axes>([](const array& a, const Axes& axes) {
          return axes ? fft::fftshift(a, axes_of(*axes)) : fft::fftshift(a);
        }),
        "a"_a, "axes"_a = nb::none(), "Frequency 0 to the middle of the axes.");
  m.def("ifftshift", of_array<Axes>([](const array& a, const Axes& axes) {
          return axes ? fft::ifftshift(a, axes_of(*axes)) : fft::ifftshift(a);
        }),
        "a"_a, "axes"_a = nb::none(), "And back.");
}

}  // namespace lowtide::python
