// Sorts and searches.
#include <algorithm>
#include <cmath>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace lazy {

std::vector<array> ascending(std::vector<array> arrays, int64_t dimension, StreamOrDevice s) {
  if (arrays[0].dtype().val != Dtype::Val::complex64) return sort_by(arrays, dimension, s);
  // Sorts by imaginary parts, then stably by real parts.
  const array parts = real(arrays[0], s);
  arrays[0] = imag(arrays[0], s);
  arrays.push_back(parts);
  arrays = sort_by(arrays, dimension, s);
  std::swap(arrays.front(), arrays.back());
  arrays = sort_by(arrays, dimension, s);
  arrays[0] = elementwise(Op::kComplex, {arrays.front(), arrays.back()}, complex64, s);
  arrays.pop_back();
  return arrays;
}

}  // namespace lazy

array sort(const array& a, int axis, StreamOrDevice s) { return ascending({a}, axis_of("sort", axis, a.ndim()), s)[0]; }
array sort(const array& a, StreamOrDevice s) { return sort(reshape(a, {-1}, s), 0, s); }
array argsort(const array& a, int axis, StreamOrDevice s) {
  const int64_t d = axis_of("argsort", axis, a.ndim());
  return ascending({a, counter(a.shape(), uint32, d, s)}, d, s)[1];
}
array argsort(const array& a, StreamOrDevice s) { return argsort(reshape(a, {-1}, s), 0, s); }
namespace {
void check_kth(std::string_view name, const array& a, int kth, int64_t axis) {
  const int64_t extent = a.shape()[at(axis)];
  if (kth < -extent || kth >= extent) fault(name, "found kth {}, expected one of {} elements", kth, extent);
}
}  // namespace
array partition(const array& a, int kth, int axis, StreamOrDevice s) {
  check_kth("partition", a, kth, axis_of("partition", axis, a.ndim()));
  return sort(a, axis, s);
}
array partition(const array& a, int kth, StreamOrDevice s) { return partition(reshape(a, {-1}, s), kth, 0, s); }
array argpartition(const array& a, int kth, int axis, StreamOrDevice s) {
  check_kth("argpartition", a, kth, axis_of("argpartition", axis, a.ndim()));
  return argsort(a, axis, s);
}
array argpartition(const array& a, int kth, StreamOrDevice s) { return argpartition(reshape(a, {-1}, s), kth, 0, s); }
array topk(const array& a, int k, int axis, StreamOrDevice s) {
  const int64_t d = axis_of("topk", axis, a.ndim()), extent = a.shape()[at(d)];
  if (k < 0 || k > extent) fault("topk", "found k = {}, expected at most {}", k, extent);
  Dims starts(a.ndim(), 0);
  starts[at(d)] = extent - k;
  return slice_of(sort(a, axis, s), starts, a.shape(), Dims(a.ndim(), 1), s);
}
array topk(const array& a, int k, StreamOrDevice s) { return topk(reshape(a, {-1}, s), k, 0, s); }

array searchsorted(const array& sorted_sequence, const array& values, const std::string& side, StreamOrDevice s) {
  if (sorted_sequence.ndim() != 1)
    fault("searchsorted", "found a sequence of shape {}, expected a vector", to_string(sorted_sequence.shape()));
  if (side != "left" && side != "right")
    fault("searchsorted", "found the side \"{}\", expected \"left\" or \"right\"", side);
  const Dtype dtype = promote_types(sorted_sequence.dtype(), values.dtype());
  const array table = as_type(sorted_sequence, dtype, s), sought = as_type(values, dtype, s);
  const int64_t n = table.shape()[0];
  // NaN sorts after all numbers.
  const auto before = [&](const array& element) {
    const array nan = isnan(sought, s);
    if (side == "right") return logical_or(less_equal(element, sought, s), nan, s);
    return logical_or(less(element, sought, s), logical_and(nan, logical_not(isnan(element, s), s), s), s);
  };
  // Binary search: `low` is the number of elements known to come before the value.
  array low = constant(0, int32, values.shape(), s), high = constant(static_cast<double>(n), int32, values.shape(), s);
  for (int64_t left = n; left > 0; left /= 2) {
    const array open = less(low, high, s);
    const array mid = right_shift(low + high, array(1), s);
    const array is_before = before(take(table, minimum(mid, array(static_cast<int>(n - 1)), s), 0, s));
    low = where(logical_and(open, is_before, s), mid + 1, low, s);
    high = where(logical_and(open, logical_not(is_before, s), s), mid, high, s);
  }
  return as_type(low, uint32, s);
}

std::vector<array> unique(const array& a, int size, bool return_index, bool return_inverse, bool return_counts,
                          const std::optional<array>& fill_value, StreamOrDevice s) {
  if (size < 0) fault("unique", "found the size {}, expected 0 or more", size);
  if (fill_value && fill_value->size() != 1)
    fault("unique", "found a fill value of shape {}, expected one element", to_string(fill_value->shape()));
  const array line = reshape(a, {-1}, s);
  const auto n = static_cast<int64_t>(a.size());
  if (n == 0 && size > 0 && !fill_value) fault("unique", "found no elements and no fill value, expected one of both");
  const Shape made = {size};
  array values = constant(0, a.dtype(), made, s), index = constant(0, uint32, made, s),
        inverse = constant(0, uint32, {n}, s), counts = constant(0, int32, made, s);
  const auto filler = [&] { return reshape_to(as_type(*fill_value, a.dtype(), s), {}, s); };
  if (n == 0) {
    if (size > 0) values = broadcast_as("unique", filler(), made, s);
  } else {
    const auto sorted = ascending({line, counter({n}, uint32, 0, s)}, 0, s);
    const auto parts = lowtide::split(sorted[0], Shape{1}, 0, s);
    const array is_new = concatenate(
        {constant(1, bool_, {1}, s), not_equal(parts[1], slice_of(sorted[0], {0}, {n - 1}, {1}, s), s)}, 0, s);
    const array rank = subtract(cumsum(as_type(is_new, int32, s), 0, false, true, s), constant(1, int32, {}, s), s);
    const array count = add(take(rank, -1, 0, s), constant(1, int32, {}, s), s);
    // Repeated elements get an index out of bounds, so that the scatter drops them.
    const array place = where(is_new, rank, constant(size, int32, {}, s), s);
    const array least = take(sorted[1], 0, 0, s);
    if (size > 0) {
      index = scatter(broadcast_as("unique", least, made, s), place, reshape_to(sorted[1], {n, 1}, s), 0, s);
      values = take(line, index, 0, s);
      if (fill_value) values = where(less(counter(made, int32, 0, s), count, s), values, filler(), s);
      counts = scatter_add(counts, rank, constant(1, int32, {n, 1}, s), 0, s);
      const array last = minimum(rank, constant(size - 1, int32, {}, s), s);
      inverse = as_type(sort_by({sorted[1], last}, 0, s)[1], uint32, s);
    }
  }
  std::vector<array> results = {values};
  if (return_index) results.push_back(index);
  if (return_inverse) results.push_back(reshape_to(inverse, a.shape(), s));
  if (return_counts) results.push_back(counts);
  return results;
}

}  // namespace lowtide
