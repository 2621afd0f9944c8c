#include "lowtide/fast.h"

#include <cmath>

#include "arrays/support.h"
#include "lowtide/control.h"
#include "lowtide/ops.h"

namespace lowtide::fast {

using namespace lazy;

namespace {

array weighted(array x, const std::optional<array>& weight, const std::optional<array>& bias, Dtype dtype,
               StreamOrDevice s) {
  x = as_type(x, dtype, s);
  if (weight) x = multiply(x, *weight, s);
  return bias ? add(x, *bias, s) : x;
}
void check_features(std::string_view name, const array& x, const std::optional<array>& weight) {
  if (x.ndim() == 0 || !issubdtype(x.dtype(), floating))
    fault(name, "found {} of shape {}, expected floats with features", dtype_to_string(x.dtype()),
          to_string(x.shape()));
  if (weight && weight->shape() != Shape{x.shape(-1)})
    fault(name, "found a weight of shape {} for {} features", to_string(weight->shape()), x.shape(-1));
}

}  // namespace

array rms_norm(const array& x, const std::optional<array>& weight, float eps, StreamOrDevice s) {
  check_features("rms_norm", x, weight);
  const array wide = as_type(x, promote_types(x.dtype(), float32), s);
  const array size = mean(square(wide, s), -1, true, s);
  return weighted(wide * rsqrt(size + constant(eps, size.dtype(), {}, s), s), weight, {}, x.dtype(), s);
}

array layer_norm(const array& x, const std::optional<array>& weight, const std::optional<array>& bias, float eps,
                 StreamOrDevice s) {
  check_features("layer_norm", x, weight);
  check_features("layer_norm", x, bias);
  const array wide = as_type(x, promote_types(x.dtype(), float32), s);
  const array apart = wide - mean(wide, -1, true, s);
  const array size = mean(square(apart, s), -1, true, s);
  return weighted(apart * rsqrt(size + constant(eps, size.dtype(), {}, s), s), weight, bias, x.dtype(), s);
}

namespace {
/// places: the positions of the rows, (..., rows, 1), float32.
array turned(const array& x, int dims, bool traditional, std::optional<float> base, float scale, const array& places,
             const std::optional<array>& freqs, StreamOrDevice s) {
  if (x.ndim() < 2 || dims < 2 || dims % 2 || dims > x.shape(-1))
    fault("rope", "found {} dims of an array of shape {}", dims, to_string(x.shape()));
  if (!issubdtype(x.dtype(), floating)) fault("rope", "found {}, expected floats", dtype_to_string(x.dtype()));
  if (base.has_value() == freqs.has_value())
    fault("rope", "found {} of base and freqs, expected one", base ? "both" : "none");
  const int64_t half = dims / 2;
  if (freqs && freqs->shape() != Shape{half})
    fault("rope", "found freqs of shape {}, expected {}", to_string(freqs->shape()), to_string({half}));
  const array turns =
      freqs ? divide(array(1.0F), as_type(*freqs, float32, s), s)
            : exp(counter({half}, float32, 0, s) *
                      constant(-std::log(static_cast<double>(base.value_or(1))) / static_cast<double>(half), float32,
                               {}, s),
                  s);
  const array angle = places * constant(scale, float32, {}, s) * turns, c = cos(angle, s), sn = sin(angle, s);
  const auto parts = lowtide::split(x, Shape{dims}, -1, s);
  const array wide = as_type(parts[0], float32, s);
  Shape pairs = wide.shape();
  pairs.back() = traditional ? half : 2;
  pairs.push_back(traditional ? 2 : half);
  const int axis = traditional ? -1 : -2;
  const array both = reshape_to(wide, pairs, s), a = take(both, 0, axis, s), b = take(both, 1, axis, s);
  const array made = reshape_to(stack({a * c - b * sn, a * sn + b * c}, axis, s), wide.shape(), s);
  return concatenate({as_type(made, x.dtype(), s), parts[1]}, -1, s);
}
array rows_of(const array& x, StreamOrDevice s) {
  const int64_t rows = x.ndim() < 2 ? 1 : x.shape(-2);
  return counter({rows, 1}, float32, 0, s);
}
}  // namespace

array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale, int offset,
           const std::optional<array>& freqs, StreamOrDevice s) {
  return turned(x, dims, traditional, base, scale, rows_of(x, s) + constant(offset, float32, {}, s), freqs, s);
}
array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale, const array& offset,
           const std::optional<array>& freqs, StreamOrDevice s) {
  const bool is_one = offset.size() == 1 && offset.ndim() < 2;
  if (!issubdtype(offset.dtype(), integer) || (!is_one && (x.ndim() < 3 || offset.shape() != Shape{x.shape(0)})))
    fault("rope", "found offsets of {} of shape {}, expected one integer, or {}", dtype_to_string(offset.dtype()),
          to_string(offset.shape()), x.ndim() ? x.shape(0) : 1);
  Shape apart(is_one ? 0 : x.ndim(), 1);
  if (!is_one) apart[0] = x.shape(0);
  const array first = reshape_to(as_type(offset, float32, s), apart, s);
  return turned(x, dims, traditional, base, scale, rows_of(x, s) + first, freqs, s);
}

array scaled_dot_product_attention(const array& queries, const array& keys, const array& values, const float scale,
                                   const std::string& mask_mode, std::optional<array> mask_arr,
                                   const std::optional<array>& sinks, bool, StreamOrDevice s) {
  constexpr std::string_view kName = "scaled_dot_product_attention";
  for (const array* a : {&queries, &keys, &values}) {
    if (a->ndim() != 4) fault(kName, "found an array of shape {}, expected four dimensions", to_string(a->shape()));
  }
  const int64_t heads = queries.shape(1), shared = keys.shape(1), rows = queries.shape(2), columns = keys.shape(2);
  if (shared == 0 || heads % shared || values.shape(1) != shared)
    fault(kName, "found {} heads of queries, {} of keys and {} of values", heads, shared, values.shape(1));
  if (!mask_mode.empty() && mask_mode != "causal" && mask_mode != "array")
    fault(kName, "found the mask mode \"{}\"", mask_mode);
  if (mask_mode == "causal" && mask_arr)
    fault(kName, "found the mask mode \"causal\" and a mask, expected one of both");
  const Dtype dtype = promote_types(queries.dtype(), promote_types(keys.dtype(), values.dtype()));
  if (!issubdtype(dtype, floating)) fault(kName, "found {}, expected floats", dtype_to_string(dtype));
  if (sinks && sinks->shape() != Shape{heads})
    fault(kName, "found sinks of shape {} for {} heads", to_string(sinks->shape()), heads);
  const array q = as_type(queries, dtype, s),
              k = repeat(as_type(keys, dtype, s), static_cast<int>(heads / shared), 1, s),
              v = repeat(as_type(values, dtype, s), static_cast<int>(heads / shared), 1, s);
  array scores = as_type(matmul(q, transpose(k, {0, 1, 3, 2}, s), s), float32, s) * constant(scale, float32, {}, s);
  const array unseen = constant(-INFINITY, float32, {}, s);
  if (mask_mode == "causal") {
    const array row =
        counter({rows, columns}, int32, 0, s) + constant(static_cast<double>(columns - rows), int32, {}, s);
    scores = where(less_equal(counter({rows, columns}, int32, 1, s), row, s), scores, unseen, s);
  }
  if (mask_arr)
    scores = mask_arr->dtype().val == Dtype::Val::bool_ ? where(*mask_arr, scores, unseen, s)
                                                        : add(scores, as_type(*mask_arr, float32, s), s);
  array seen = scores;
  if (sinks) {
    const array sink = reshape_to(as_type(*sinks, float32, s), {heads, 1, 1}, s);
    const array most = stop_gradient(maximum(max(scores, -1, true, s), sink, s), s);
    const array sizes = exp(scores - most, s);
    seen = sizes / (sum(sizes, -1, true, s) + exp(sink - most, s));
  } else {
    seen = softmax(scores, -1, false, s);
  }
  return matmul(as_type(seen, dtype, s), v, s);
}

array cross_entropy(const array& logits, const array& targets, StreamOrDevice s) {
  if (logits.ndim() == 0 || !issubdtype(logits.dtype(), floating))
    fault("cross_entropy", "found logits of {} of shape {}, expected floats with classes",
          dtype_to_string(logits.dtype()), to_string(logits.shape()));
  if (!issubdtype(targets.dtype(), integer) ||
      targets.shape() != Shape(logits.shape().begin(), logits.shape().end() - 1))
    fault("cross_entropy", "found targets of {} of shape {} for logits of shape {}", dtype_to_string(targets.dtype()),
          to_string(targets.shape()), to_string(logits.shape()));
  const array wide = as_type(logits, float32, s);
  const array chosen = take_along_axis(wide, expand_dims(targets, -1, s), -1, s);
  return logsumexp(wide, -1, false, s) - squeeze(chosen, -1, s);
}

std::vector<array> gated_delta_update(const array& queries, const array& keys, const array& values, const array& gates,
                                      const array& beta_, const std::optional<array>& initial_state,
                                      const std::optional<array>& mask, StreamOrDevice s) {
  constexpr std::string_view kName = "gated_delta_update";
  for (const array* a : {&queries, &keys, &values}) {
    if (a->ndim() != 4) fault(kName, "found an array of shape {}, expected four dimensions", to_string(a->shape()));
  }
  const int64_t batch = queries.shape(0), steps = queries.shape(1), shared = queries.shape(2), width = queries.shape(3),
                heads = values.shape(2), height = values.shape(3);
  if (keys.shape() != queries.shape() || values.shape(0) != batch || values.shape(1) != steps || shared == 0 ||
      heads % shared)
    fault(kName, "found queries of shape {}, keys of {} and values of {}", to_string(queries.shape()),
          to_string(keys.shape()), to_string(values.shape()));
  const Shape each = {batch, steps, heads}, state = {batch, heads, height, width};
  Shape wide_gates = each;
  wide_gates.push_back(width);
  if ((gates.shape() != each && gates.shape() != wide_gates) || beta_.shape() != each)
    fault(kName, "found gates of shape {} and beta of {}, expected {}", to_string(gates.shape()),
          to_string(beta_.shape()), to_string(each));
  if (initial_state && initial_state->shape() != state)
    fault(kName, "found a state of shape {}, expected {}", to_string(initial_state->shape()), to_string(state));
  if (mask && mask->shape() != Shape{batch, steps})
    fault(kName, "found a mask of shape {}, expected {}", to_string(mask->shape()), to_string({batch, steps}));
  // The steps become the first dimension; heads of queries and keys are repeated; operands that are multiplied with the
  // state get its dimensions.
  const auto in_steps = [&](const array& a) { return moveaxis(as_type(a, float32, s), 1, 0, s); };
  const auto shared_heads = [&](const array& a) {
    return expand_dims(repeat(in_steps(a), static_cast<int>(heads / shared), 2, s), 3, s);
  };
  const array gate = gates.ndim() == 3 ? expand_dims(in_steps(gates), {3, 4}, s) : expand_dims(in_steps(gates), 3, s);
  std::vector<array> along = {shared_heads(queries), shared_heads(keys), expand_dims(in_steps(values), -1, s), gate,
                              expand_dims(in_steps(beta_), {3, 4}, s)};
  if (mask) along.push_back(expand_dims(moveaxis(as_type(*mask, bool_, s), 1, 0, s), {2, 3, 4}, s));
  const array first = initial_state ? as_type(*initial_state, float32, s) : constant(0, float32, state, s);
  const auto step = [&](const std::vector<array>& carry, const std::vector<array>& x) {
    const array decayed = carry[0] * x[3];
    const array change = (x[2] - sum(decayed * x[1], -1, true, s)) * x[4];
    array next = decayed + change * x[1], out = sum(next * x[0], -1, true, s);
    if (mask) {
      next = where(x[5], next, carry[0], s);
      out = where(x[5], out, zeros_like(out, s), s);
    }
    return std::pair(std::vector<array>{next}, std::vector<array>{squeeze(out, -1, s)});
  };
  const auto [last, results] = scan(step, {first}, along, steps);
  const Dtype dtype = at_least_float(promote_types(queries.dtype(), values.dtype()));
  return {as_type(moveaxis(results[0], 0, 1, s), dtype, s), last[0]};
}

}  // namespace lowtide::fast
