#include "lowtide/fast.h"

#include <cmath>

#include "arrays/support.h"
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

array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale, int offset,
           const std::optional<array>& freqs, StreamOrDevice s) {
  if (x.ndim() < 2 || dims < 2 || dims % 2 || dims > x.shape(-1))
    fault("rope", "found {} dims of an array of shape {}", dims, to_string(x.shape()));
  if (base.has_value() == freqs.has_value())
    fault("rope", "found {} of base and freqs, expected one", base ? "both" : "none");
  const int64_t half = dims / 2, rows = x.shape(-2);
  if (freqs && freqs->shape() != Shape{half})
    fault("rope", "found freqs of shape {}, expected {}", to_string(freqs->shape()), to_string({half}));
  const array place =
      (counter({rows, half}, float32, 0, s) + constant(offset, float32, {}, s)) * constant(scale, float32, {}, s);
  const array turns =
      freqs ? divide(array(1.0F), as_type(*freqs, float32, s), s)
            : exp(counter({half}, float32, 0, s) *
                      constant(-std::log(static_cast<double>(base.value_or(1))) / static_cast<double>(half), float32,
                               {}, s),
                  s);
  const array angle = place * turns, c = cos(angle, s), sn = sin(angle, s);
  const auto parts = lowtide::split(x, Shape{dims}, -1, s);
  const array wide = as_type(parts[0], float32, s);
  Shape pairs = wide.shape();
  pairs.back() = traditional ? half : 2;
  pairs.push_back(traditional ? 2 : half);
  const int axis = traditional ? -1 : -2;
  const array both = reshape_to(wide, pairs, s), a = take(both, 0, axis, s), b = take(both, 1, axis, s);
  const array turned = reshape_to(stack({a * c - b * sn, a * sn + b * c}, axis, s), wide.shape(), s);
  return concatenate({as_type(turned, x.dtype(), s), parts[1]}, -1, s);
}

array scaled_dot_product_attention(const array& queries, const array& keys, const array& values, const float scale,
                                   const std::string& mask_mode, const std::optional<array>& mask, StreamOrDevice s) {
  constexpr std::string_view kName = "scaled_dot_product_attention";
  for (const array* a : {&queries, &keys, &values}) {
    if (a->ndim() != 4) fault(kName, "found an array of shape {}, expected four dimensions", to_string(a->shape()));
  }
  const int64_t heads = queries.shape(1), shared = keys.shape(1), rows = queries.shape(2), columns = keys.shape(2);
  if (shared == 0 || heads % shared || values.shape(1) != shared)
    fault(kName, "found {} heads of queries, {} of keys and {} of values", heads, shared, values.shape(1));
  if (mask_mode != "" && mask_mode != "causal" && mask_mode != "array")
    fault(kName, "found the mask mode \"{}\"", mask_mode);
  const array k = repeat(keys, static_cast<int>(heads / shared), 1, s),
              v = repeat(values, static_cast<int>(heads / shared), 1, s);
  array scores =
      as_type(matmul(queries, transpose(k, {0, 1, 3, 2}, s), s), float32, s) * constant(scale, float32, {}, s);
  const array unseen = constant(-INFINITY, float32, {}, s);
  if (mask_mode == "causal") {
    const array row =
        counter({rows, columns}, int32, 0, s) + constant(static_cast<double>(columns - rows), int32, {}, s);
    scores = where(less_equal(counter({rows, columns}, int32, 1, s), row, s), scores, unseen, s);
  }
  if (mask)
    scores = mask->dtype().val == Dtype::Val::bool_ ? where(*mask, scores, unseen, s)
                                                    : add(scores, as_type(*mask, float32, s), s);
  return matmul(as_type(softmax(scores, -1, false, s), values.dtype(), s), v, s);
}

}  // namespace lowtide::fast
