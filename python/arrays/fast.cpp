// lowtide.fast.
#include "lowtide/fast.h"

#include "bind.h"

namespace lowtide::python {
namespace {

using Maybe = std::optional<ArrayLike>;
std::optional<array> maybe(const Maybe& like) { return like ? std::optional(array_of(*like)) : std::nullopt; }

array attention(const ArrayLike& q, const ArrayLike& k, const ArrayLike& v, float scale,
                const std::optional<std::variant<std::string, ArrayLike>>& mask, const Maybe& sinks, bool fused) {
  const array queries = array_of(q), keys = array_of(k), values = array_of(v);
  std::string mode;
  std::optional<array> with;
  if (mask && mask->index() == 0) mode = std::get<0>(*mask);
  if (mask && mask->index() == 1) {
    mode = "array";
    with = array_of(std::get<1>(*mask));
  }
  const std::optional<array> s = maybe(sinks);
  return unlocked(
      [&] { return fast::scaled_dot_product_attention(queries, keys, values, scale, mode, with, s, fused); });
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
      [](const ArrayLike& x, int dims, bool traditional, std::optional<float> base, float scale,
         const std::variant<int, ArrayLike>& offset, const Maybe& freqs) {
        const array a = array_of(x);
        const bool is_number = offset.index() == 0;
        const array from = is_number ? array(std::get<0>(offset)) : array_of(std::get<1>(offset));
        const std::optional<array> periods = maybe(freqs);
        if (periods) base.reset();
        return unlocked([&] {
          if (is_number) return fast::rope(a, dims, traditional, base, scale, std::get<0>(offset), periods);
          return fast::rope(a, dims, traditional, base, scale, from, periods);
        });
      },
      "x"_a, "dims"_a, nb::kw_only(), "traditional"_a = false, nb::arg("base").none() = 10000.0F, "scale"_a = 1.0F,
      "offset"_a = 0, "freqs"_a = nb::none(),
      "Pairs of the first dims features of x (..., T, D) turned by angles (offset + t) scale base^(-2i / dims); "
      "offset: an integer, or one for each index of the first dimension.");
  m.def(
      "scaled_dot_product_attention", &attention, "q"_a, "k"_a, "v"_a, nb::kw_only(), "scale"_a, "mask"_a = nb::none(),
      "sinks"_a = nb::none(), "force_fused"_a = false,
      "softmax(scale q k^T + mask) v: q (B, H, T, D), k and v (B, H or fewer, S, D); mask \"causal\", boolean (false: "
      "not seen), or one that is added; sinks (H): what exp(sinks) adds to the sum of each row of the softmax.");
  m.def("cross_entropy", of_arrays([](const array& x, const array& t) { return fast::cross_entropy(x, t); }),
        "logits"_a, "targets"_a,
        "logsumexp(logits) - logits[target] along the last dimension, float32; targets: integers.");
  m.def(
      "gated_delta_update",
      [](const ArrayLike& q, const ArrayLike& k, const ArrayLike& v, const ArrayLike& gates, const ArrayLike& beta,
         const Maybe& initial_state, const Maybe& mask) {
        const array queries = array_of(q), keys = array_of(k), values = array_of(v), g = array_of(gates),
                    b = array_of(beta);
        const std::optional<array> first = maybe(initial_state), steps = maybe(mask);
        const auto made = unlocked([&] { return fast::gated_delta_update(queries, keys, values, g, b, first, steps); });
        return std::pair(made[0], made[1]);
      },
      "q"_a, "k"_a, "v"_a, "gamma"_a, "beta"_a, "initial_state"_a = nb::none(), "mask"_a = nb::none(),
      "(results (B, T, Hv, Dv), the last state (B, Hv, Dv, Dk)) of the gated delta rule: the state is multiplied with "
      "gamma, beta (v - S k) k^T is added, S q comes out.");
}

}  // namespace lowtide::python
