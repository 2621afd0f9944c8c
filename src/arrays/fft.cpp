// Fourier transforms by HLO's, which are over the last one to three dimensions: other axes are transposed to the end,
// and extents are cropped or padded.
#include "lowtide/fft.h"

#include <algorithm>
#include <cmath>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace lazy {
namespace {

/// The derivative is the transpose, without conjugation, as for all operations on complex numbers here.
class FourierTransform final : public Primitive {
 public:
  FourierTransform(Fourier kind, Dims lengths) : kind_(kind), lengths_(std::move(lengths)) {}
  std::string_view name() const override { return "fft"; }
  void describe(Key& key) const override {
    key.number(static_cast<int64_t>(kind_));
    key.numbers(lengths_);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    constexpr const char* kTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
    return {to.add("fft", in, {{"fft_type", kTypes[static_cast<int>(kind_)]}, {"fft_length", list_text(lengths_)}},
                   out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    const array& c = b.cotangents[0];
    const auto count = static_cast<double>(element_count(lengths_));
    switch (kind_) {
      case Fourier::kForward:
      case Fourier::kBackward: return {fourier(c, kind_, lengths_)};
      // A frequency other than 0 and n / 2 represents a conjugate pair, of which rfft returns one.
      case Fourier::kOfReal: {
        const array sum = fourier(conjugate(c) * weights(0.5), Fourier::kToReal, lengths_);
        return {sum * constant(count, float32)};
      }
      case Fourier::kToReal: break;
    }
    return {conjugate(fourier(c, Fourier::kOfReal, lengths_)) * (weights(2) * constant(1 / count, float32))};
  }
  std::vector<array> vmap(const Batch& batch) const override { return {fourier(batch.inputs[0], kind_, lengths_)}; }

 private:
  /// Per frequency of the last dimension: `inner` if it represents a conjugate pair, 1 otherwise.
  array weights(double inner) const {
    const int64_t n = lengths_.back();
    const array at = counter({n / 2 + 1}, int32, 0), zero = constant(0, int32);
    const array last = constant(static_cast<double>(n % 2 == 0 ? n / 2 : 0), int32);
    return where(logical_or(equal(at, zero), equal(at, last)), constant(1, float32), constant(inner, float32));
  }
  Fourier kind_;
  Dims lengths_;
};

}  // namespace

array fourier(const array& a, Fourier kind, const Dims& lengths, StreamOrDevice s) {
  Shape shape = a.shape();
  if (kind == Fourier::kOfReal) shape.back() = lengths.back() / 2 + 1;
  if (kind == Fourier::kToReal) shape.back() = lengths.back();
  return apply(std::make_shared<FourierTransform>(kind, lengths), {a}, std::move(shape),
               kind == Fourier::kToReal ? float32 : complex64, s);
}

}  // namespace lazy

namespace fft {
namespace {

std::vector<int> all_of(const array& a) {
  std::vector<int> axes(a.ndim());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// Crops the axis to `extent` elements, or pads it with trailing zeros.
array with_extent(const array& a, int64_t axis, int64_t extent, StreamOrDevice s) {
  const int64_t has = a.shape()[at(axis)];
  Dims zero(a.ndim(), 0), more(a.ndim(), 0), stops = a.shape();
  if (extent < has) {
    stops[at(axis)] = extent;
    return slice_of(a, zero, stops, Dims(a.ndim(), 1), s);
  }
  more[at(axis)] = extent - has;
  return pad_with(a, constant(0, a.dtype(), {}, s), zero, more, zero, s);
}

array transformed(std::string_view name, const array& a, const Shape* n, const std::vector<int>& axes, Fourier kind,
                  FFTNorm norm, StreamOrDevice s) {
  if (axes.empty()) fault(name, "found no axes of an array of shape {}", to_string(a.shape()));
  if (n && n->size() != axes.size()) fault(name, "found {} extents for {} axes", n->size(), axes.size());
  (void)axes_of(name, axes, a.ndim());  // checks that they are distinct
  const bool is_complex = a.dtype().val == Dtype::Val::complex64, of_real = kind == Fourier::kOfReal;
  if (of_real && is_complex) fault(name, "found complex64, expected real numbers");
  array x = as_type(a, of_real ? float32 : complex64, s);
  Dims order, moved, lengths;
  for (const int axis : axes) moved.push_back(axis_of(name, axis, a.ndim()));
  for (int64_t d = 0; d < static_cast<int64_t>(a.ndim()); ++d) {
    if (std::ranges::find(moved, d) == moved.end()) order.push_back(d);
  }
  for (size_t k = 0; k < moved.size(); ++k) {
    const bool halved = kind == Fourier::kToReal && k + 1 == moved.size();
    const int64_t has = a.shape()[at(moved[k])];
    lengths.push_back(n ? (*n)[k] : halved ? 2 * (has - 1) : has);
    if (lengths.back() < 1) fault(name, "found an extent of {}, expected one from 1 on", lengths.back());
    x = with_extent(x, moved[k], halved ? lengths.back() / 2 + 1 : lengths.back(), s);
    order.push_back(moved[k]);
  }
  x = permute(x, order, s);
  // HLO transforms up to the last three dimensions; other axes are moved there group by group. A transform of real
  // numbers comes first, and one to real numbers last.
  const size_t rank = a.ndim(), first = rank - lengths.size();
  const bool inverse = kind == Fourier::kBackward || kind == Fourier::kToReal;
  const auto rest = [&] {
    for (size_t d = first; d + 3 < rank; ++d) {
      Dims to_end = all_axes(rank);
      std::swap(to_end[d], to_end[rank - 1]);
      x = permute(x, to_end, s);
      x = fourier(x, inverse ? Fourier::kBackward : Fourier::kForward, {lengths[d - first]}, s);
      x = permute(x, to_end, s);
    }
  };
  const Dims together(lengths.end() - static_cast<int64_t>(std::min<size_t>(3, lengths.size())), lengths.end());
  if (inverse) rest();
  x = fourier(x, kind, together, s);
  if (!inverse) rest();
  Dims back(rank);
  for (size_t d = 0; d < rank; ++d) back[at(order[d])] = static_cast<int64_t>(d);
  x = permute(x, back, s);
  const auto count = static_cast<double>(element_count(lengths));
  double scale = 1;
  if (norm == FFTNorm::Ortho) scale = inverse ? std::sqrt(count) : 1 / std::sqrt(count);
  if (norm == FFTNorm::Forward) scale = inverse ? count : 1 / count;
  return scale == 1 ? x : multiply(x, constant(scale, float32, {}, s), s);
}

array turned(std::string_view name, const array& a, const std::vector<int>& axes, bool back, StreamOrDevice s) {
  Shape shifts;
  for (const int axis : axes) {
    const int64_t extent = a.shape()[at(axis_of(name, axis, a.ndim()))];
    shifts.push_back(back ? -(extent / 2) : extent / 2);
  }
  return axes.empty() ? a : roll(a, shifts, axes, s);
}

}  // namespace

array fftn(const array& a, const Shape& n, const std::vector<int>& axes, FFTNorm norm, StreamOrDevice s) {
  return transformed("fftn", a, &n, axes, Fourier::kForward, norm, s);
}
array fftn(const array& a, const std::vector<int>& axes, FFTNorm norm, StreamOrDevice s) {
  return transformed("fftn", a, nullptr, axes, Fourier::kForward, norm, s);
}
array fftn(const array& a, FFTNorm norm, StreamOrDevice s) { return fftn(a, all_of(a), norm, s); }
array ifftn(const array& a, const Shape& n, const std::vector<int>& axes, FFTNorm norm, StreamOrDevice s) {
  return transformed("ifftn", a, &n, axes, Fourier::kBackward, norm, s);
}
array ifftn(const array& a, const std::vector<int>& axes, FFTNorm norm, StreamOrDevice s) {
  return transformed("ifftn", a, nullptr, axes, Fourier::kBackward, norm, s);
}
array ifftn(const array& a, FFTNorm norm, StreamOrDevice s) { return ifftn(a, all_of(a), norm, s); }
array rfftn(const array& a, const Shape& n, const std::vector<int>& axes, FFTNorm norm, StreamOrDevice s) {
  return transformed("rfftn", a, &n, axes, Fourier::kOfReal, norm, s);
}
array rfftn(const array& a, const std::vector<int>& axes, FFTNorm norm, StreamOrDevice s) {
  return transformed("rfftn", a, nullptr, axes, Fourier::kOfReal, norm, s);
}
array rfftn(const array& a, FFTNorm norm, StreamOrDevice s) { return rfftn(a, all_of(a), norm, s); }
array irfftn(const array& a, const Shape& n, const std::vector<int>& axes, FFTNorm norm, StreamOrDevice s) {
  return transformed("irfftn", a, &n, axes, Fourier::kToReal, norm, s);
}
array irfftn(const array& a, const std::vector<int>& axes, FFTNorm norm, StreamOrDevice s) {
  return transformed("irfftn", a, nullptr, axes, Fourier::kToReal, norm, s);
}
array irfftn(const array& a, FFTNorm norm, StreamOrDevice s) { return irfftn(a, all_of(a), norm, s); }

array fftfreq(int n, double d, StreamOrDevice s) {
  if (n < 1) fault("fftfreq", "found {} samples", n);
  const array k = counter({n}, int32, 0, s), whole = constant(n, int32, {}, s);
  const int positive = (n + 1) / 2;
  const array turned = where(less(k, constant(positive, int32, {}, s), s), k, subtract(k, whole, s), s);
  return multiply(as_type(turned, float32, s), constant(1 / (n * d), float32, {}, s), s);
}
array rfftfreq(int n, double d, StreamOrDevice s) {
  if (n < 1) fault("rfftfreq", "found {} samples", n);
  return multiply(counter({n / 2 + 1}, float32, 0, s), constant(1 / (n * d), float32, {}, s), s);
}
array fftshift(const array& a, const std::vector<int>& axes, StreamOrDevice s) {
  return turned("fftshift", a, axes, false, s);
}
array fftshift(const array& a, StreamOrDevice s) { return fftshift(a, all_of(a), s); }
array ifftshift(const array& a, const std::vector<int>& axes, StreamOrDevice s) {
  return turned("ifftshift", a, axes, true, s);
}
array ifftshift(const array& a, StreamOrDevice s) { return ifftshift(a, all_of(a), s); }

}  // namespace fft
}  // namespace lowtide
