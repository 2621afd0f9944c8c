// Helpers for types, shapes and axes.
#include "lowtide/utils.h"

#include <cmath>

#include "arrays/support.h"

namespace lowtide {

using namespace lazy;

Dtype result_type(const std::vector<array>& arrays) {
  Dtype dtype = bool_;
  for (const array& a : arrays) dtype = promote_types(dtype, a.dtype());
  return dtype;
}
Shape broadcast_shapes(const Shape& s1, const Shape& s2) { return broadcast_shape("broadcast_shapes", s1, s2); }
int normalize_axis_index(int axis, int ndim, const std::string& msg_prefix) {
  if (axis < -ndim || axis >= ndim)
    throw std::invalid_argument(
        fmt::format("{}found axis {}, expected one of an array of {} dimensions", msg_prefix, axis, ndim));
  return axis < 0 ? axis + ndim : axis;
}

finfo::finfo(Dtype type) : dtype(type), bits(8 * type.size()) {
  int fraction = 0, exponent = 0;  // explicit bits of the significand; the largest exponent
  switch (type.val) {
    case Dtype::Val::float16: fraction = 10, exponent = 15; break;
    case Dtype::Val::bfloat16: fraction = 7, exponent = 127; break;
    case Dtype::Val::complex64: dtype = float32, bits = 32; [[fallthrough]];
    case Dtype::Val::float32: fraction = 23, exponent = 127; break;
    case Dtype::Val::float64: fraction = 52, exponent = 1023; break;
    default: fault("finfo", "found {}, expected floats", dtype_to_string(type));
  }
  eps = std::ldexp(1.0, -fraction);
  max = std::ldexp(2 - eps, exponent);
  min = -max;
  smallest_normal = std::ldexp(1.0, 1 - exponent);
}
iinfo::iinfo(Dtype type) : dtype(type) {
  if (!issubdtype(type, integer)) fault("iinfo", "found {}, expected integers", dtype_to_string(type));
  const bool is_signed = issubdtype(type, signedinteger);
  max = ~uint64_t{0} >> (64 - 8 * type.size() + (is_signed ? 1 : 0));
  min = is_signed ? -static_cast<int64_t>(max) - 1 : 0;
}

}  // namespace lowtide
