#pragma once
/// Building blocks of models. Each is an expression of ordinary operations, which the planner turns into loops without
/// unnecessary stored intermediate values.

#include <optional>
#include <string>
#include <vector>

#include "lowtide/array.h"
#include "lowtide/visibility.h"

namespace lowtide::fast {

/// x / sqrt(mean(x^2) + eps) along the last dimension, times weight; computed in float32.
LOWTIDE_PUBLIC array rms_norm(const array& x, const std::optional<array>& weight, float eps, StreamOrDevice s = {});
/// (x - mean) / sqrt(variance + eps) along the last dimension, times weight, plus bias.
LOWTIDE_PUBLIC array layer_norm(const array& x, const std::optional<array>& weight, const std::optional<array>& bias,
                                float eps, StreamOrDevice s = {});
/// Rotates pairs of the first `dims` features of x (..., T, D) by the angles (offset + t) scale base^(-2i / dims):
/// pairs of neighbours if traditional, else of features i and i + dims / 2. freqs: the periods base^(2i / dims)
/// themselves.
LOWTIDE_PUBLIC array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale,
                          int offset, const std::optional<array>& freqs = {}, StreamOrDevice s = {});
/// The offset is an array of one integer, or of one for each index of the first dimension.
LOWTIDE_PUBLIC array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale,
                          const array& offset, const std::optional<array>& freqs = {}, StreamOrDevice s = {});
/// softmax(scale q k^T + mask) v: q (B, H, T, D), k and v (B, H or fewer, S, D). mask_mode: "", "causal", or "array"
/// with a boolean mask (false: masked out) or an additive one. sinks (H): exp(sinks[h]) is added to the sum of each row
/// of the softmax. force_fused has no effect: there is only one implementation.
LOWTIDE_PUBLIC array scaled_dot_product_attention(const array& queries, const array& keys, const array& values,
                                                  const float scale, const std::string& mask_mode = "",
                                                  std::optional<array> mask_arr = {},
                                                  const std::optional<array>& sinks = {}, bool force_fused = false,
                                                  StreamOrDevice s = {});
/// logsumexp(logits) - logits[target] along the last dimension, float32; targets: integers, of the shape without the
/// last dimension.
LOWTIDE_PUBLIC array cross_entropy(const array& logits, const array& targets, StreamOrDevice s = {});
/// Gated delta rule, step by step over T: the state S is multiplied by the gate, beta (v - S k) k^T is added, and S q
/// is the result. queries and keys (B, T, Hk, Dk), values (B, T, Hv, Dv), gates (B, T, Hv) or (B, T, Hv, Dk), beta (B,
/// T, Hv); Hv is a multiple of Hk. initial_state (B, Hv, Dv, Dk): zeros by default. mask (B, T): steps where it is 0
/// leave the state unchanged and give zeros. Returns {results (B, T, Hv, Dv), the last state, float32}.
LOWTIDE_PUBLIC std::vector<array> gated_delta_update(const array& queries, const array& keys, const array& values,
                                                     const array& gates, const array& beta_,
                                                     const std::optional<array>& initial_state = {},
                                                     const std::optional<array>& mask = {}, StreamOrDevice s = {});

}  // namespace lowtide::fast
