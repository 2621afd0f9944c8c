#pragma once
/// What models are made of. Each is one expression of operations, which the planner forms into loops; none stores what
/// it needn't.

#include <optional>
#include <string>

#include "lowtide/array.h"
#include "lowtide/visibility.h"

namespace lowtide::fast {

/// x / sqrt(mean(x^2) + eps) along the last dimension, times weight; computed in float32.
LOWTIDE_PUBLIC array rms_norm(const array& x, const std::optional<array>& weight, float eps, StreamOrDevice s = {});
/// (x - mean) / sqrt(variance + eps) along the last dimension, times weight, plus bias.
LOWTIDE_PUBLIC array layer_norm(const array& x, const std::optional<array>& weight, const std::optional<array>& bias,
                                float eps, StreamOrDevice s = {});
/// Pairs of the first `dims` features of x (..., T, D) turned by angles (offset + t) scale base^(-2i / dims):
/// neighbours where it is traditional, else feature i and i + dims / 2. freqs: the periods base^(2i / dims) themselves.
LOWTIDE_PUBLIC array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale,
                          int offset, const std::optional<array>& freqs = {}, StreamOrDevice s = {});
/// softmax(scale q k^T + mask) v: q (B, H, T, D), k and v (B, H or fewer, S, D). mask_mode: "", "causal", or "array"
/// with a boolean mask (false: not seen) or one that is added.
LOWTIDE_PUBLIC array scaled_dot_product_attention(const array& queries, const array& keys, const array& values,
                                                  const float scale, const std::string& mask_mode = "",
                                                  const std::optional<array>& mask = {}, StreamOrDevice s = {});

}  // namespace lowtide::fast
