// lowtide.fast.
#include "lowtide/fast.h"

#include "bind.h"

namespace lowtide::python {
namespace {

using Maybe = std::optional<ArrayLike>;
std::optional<array> maybe(const Maybe& like) { return like ? std::optional(array_of(*like)) : std::nullopt; }

array attention(const ArrayLike& q, const ArrayLike& k, const ArrayLike& v, float scale,
                const std::optional<std::variant<std::string, ArrayLike>>& mask) {
  const array queries = array_of(q), keys = array_of(k), values = array_of(v);
  std::string mode;
  std::optional<array> with;
  if (mask && mask->index() == 0) mode = std::get<0>(*mask);
  if (mask && mask->index() == 1) {
    mode = "array";
    with = array_of(std::get<1>(*mask));
  }
  return unlocked([&] { return fast::scaled_dot_product_attention(queries, keys, values, scale, mode, with); });
}

}  // namespace

void bind_fast(nb::module_& m) {
  m.def(
      "rms_norm",
      [](const ArrayLike& x, const Maybe& weight, float eps) {
        const array a = array_of(x);
        const std::optional<array> w = maybe(weight);
        return unlocked([&] { return fast::rms_norm(a, w, eps); });
      },
      "x"_a, "weight"_a = nb::none(), "eps"_a = 1e-5F,
      "x / sqrt(mean(x^2) + eps) along the last dimension, times weight; computed in float32.");
  m.def(
      "layer_norm",
      [](const ArrayLike& x, const Maybe& weight, const Maybe& bias, float eps) {
        const array a = array_of(x);
        const std::optional<array> w = maybe(weight), b = maybe(bias);
        return unlocked([&] { return fast::layer_norm(a, w, b, eps); });
      },
      "x"_a, "weight"_a = nb::none(), "bias"_a = nb::none(), "eps"_a = 1e-5F,
      "(x - mean) / sqrt(variance + eps) along the last dimension, times weight, plus bias.");
  m.def(
      "rope",
      [](const ArrayLike& x, int dims, bool traditional, std::optional<float> base, float scale, int offset,
         const Maybe& freqs) {
        const array a = array_of(x);
        const std::optional<array> periods = maybe(freqs);
        if (periods) base.reset();
        return unlocked([&] { return fast::rope(a, dims, traditional, base, scale, offset, periods); });
      },
      "x"_a, "dims"_a, nb::kw_only(), "traditional"_a = false, nb::arg("base").none() = 10000.0F, "scale"_a = 1.0F,
      "offset"_a = 0, "freqs"_a = nb::none(),
      "Pairs of the first dims features of x (..., T, D) turned by angles (offset + t) scale base^(-2i / dims).");
  m.def(
      "scaled_dot_product_attention", &attention, "q"_a, "k"_a, "v"_a, nb::kw_only(), "scale"_a, "mask"_a = nb::none(),
      "softmax(scale q k^T + mask) v: q (B, H, T, D), k and v (B, H or fewer, S, D); mask \"causal\", boolean (false: "
      "not seen), or one that is added.");
}

}  // namespace lowtide::python
