// Reductions, running folds, orders.
#include <algorithm>
#include <cmath>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace {

array with_ones(const array& a, const Shape& of, const Dims& axes, StreamOrDevice s) {
  Shape shape = of;
  for (const int64_t axis : axes) shape[at(axis)] = 1;
  return reshape_to(a, shape, s);
}

array fold(const array& a, Reducer reducer, const Dims& axes, bool keepdims, StreamOrDevice s) {
  const array made = reduce(a, reducer, axes, s);
  return keepdims ? with_ones(made, a.shape(), axes, s) : made;
}

Dims every(const array& a) { return all_axes(a.ndim()); }

/// Sums of booleans and small integers are int32's.
array summand(const array& a, StreamOrDevice s) {
  if (a.dtype().val == Dtype::Val::bool_ || (issubdtype(a.dtype(), signedinteger) && a.dtype().size() < 4))
    return as_type(a, int32, s);
  if (issubdtype(a.dtype(), unsignedinteger) && a.dtype().size() < 4) return as_type(a, uint32, s);
  return a;
}
int64_t count_along(const array& a, const Dims& axes) {
  int64_t count = 1;
  for (const int64_t axis : axes) count *= a.shape()[at(axis)];
  return count;
}
array truth(const array& a, StreamOrDevice s) {
  return a.dtype().val == Dtype::Val::bool_ ? a : not_equal(a, constant(0, a.dtype(), a.shape(), s), s);
}
void check_not_empty(std::string_view name, const array& a, const Dims& axes) {
  if (count_along(a, axes) == 0)
    fault(name, "found an array of shape {}, which has nothing to choose from", to_string(a.shape()));
}

array sum_over(const array& a, const Dims& axes, bool keepdims, StreamOrDevice s) {
  return fold(summand(a, s), Reducer::kSum, axes, keepdims, s);
}
array prod_over(const array& a, const Dims& axes, bool keepdims, StreamOrDevice s) {
  return fold(summand(a, s), Reducer::kProduct, axes, keepdims, s);
}
array max_over(const array& a, const Dims& axes, bool keepdims, StreamOrDevice s) {
  check_not_empty("max", a, axes);
  return fold(a, a.dtype().val == Dtype::Val::bool_ ? Reducer::kOr : Reducer::kMaximum, axes, keepdims, s);
}
array min_over(const array& a, const Dims& axes, bool keepdims, StreamOrDevice s) {
  check_not_empty("min", a, axes);
  return fold(a, a.dtype().val == Dtype::Val::bool_ ? Reducer::kAnd : Reducer::kMinimum, axes, keepdims, s);
}
array all_over(const array& a, const Dims& axes, bool keepdims, StreamOrDevice s) {
  return fold(truth(a, s), Reducer::kAnd, axes, keepdims, s);
}
array any_over(const array& a, const Dims& axes, bool keepdims, StreamOrDevice s) {
  return fold(truth(a, s), Reducer::kOr, axes, keepdims, s);
}
array mean_over(const array& a, const Dims& axes, bool keepdims, StreamOrDevice s) {
  const array total = fold(to_float(a, s), Reducer::kSum, axes, keepdims, s);
  return total / constant(static_cast<double>(count_along(a, axes)), total.dtype(), {}, s);
}
array var_over(const array& a, const Dims& axes, bool keepdims, int ddof, StreamOrDevice s) {
  const array x = to_float(a, s);
  const array middle = mean_over(x, axes, true, s);
  const array apart = x - broadcast_as("var", middle, x.shape(), s);
  const array total = fold(square(apart, s), Reducer::kSum, axes, keepdims, s);
  return total / constant(std::max<double>(0, static_cast<double>(count_along(a, axes) - ddof)), total.dtype(), {}, s);
}
array std_over(const array& a, const Dims& axes, bool keepdims, int ddof, StreamOrDevice s) {
  return sqrt(var_over(a, axes, keepdims, ddof, s), s);
}
array logsumexp_over(const array& a, const Dims& axes, bool keepdims, StreamOrDevice s) {
  const array x = to_float(a, s);
  const array most = stop_gradient(max_over(x, axes, true, s), s);
  const array shift = where(isfinite(most, s), most, zeros_like(most, s), s);
  const array total =
      log(fold(exp(x - broadcast_as("logsumexp", shift, x.shape(), s), s), Reducer::kSum, axes, true, s), s) + shift;
  if (keepdims) return total;
  Shape shape;
  for (size_t d = 0; d < x.ndim(); ++d) {
    if (std::ranges::find(axes, static_cast<int64_t>(d)) == axes.end()) shape.push_back(x.shape()[d]);
  }
  return reshape_to(total, shape, s);
}
array median_over(const array& a, const Dims& axes, bool keepdims, StreamOrDevice s) {
  check_not_empty("median", a, axes);
  Dims order;
  Shape line;
  for (int64_t d = 0; d < static_cast<int64_t>(a.ndim()); ++d) {
    if (std::ranges::find(axes, d) == axes.end()) {
      order.push_back(d);
      line.push_back(a.shape()[at(d)]);
    }
  }
  const Shape rest = line;
  order.insert(order.end(), axes.begin(), axes.end());
  const int64_t count = count_along(a, axes);
  line.push_back(count);
  const array sorted =
      sort_by({reshape_to(permute(to_float(a, s), order, s), line, s)}, static_cast<int64_t>(line.size()) - 1, s)[0];
  const auto nth = [&](int64_t k) { return reshape_to(take(sorted, static_cast<int>(k), -1, s), rest, s); };
  array middle =
      count % 2 ? nth(count / 2) : (nth(count / 2 - 1) + nth(count / 2)) * constant(0.5, sorted.dtype(), {}, s);
  return keepdims ? with_ones(middle, a.shape(), axes, s) : middle;
}

}  // namespace

#define LT_REDUCTION(NAME)                                                                                      \
  array NAME(const array& a, bool keepdims, StreamOrDevice s) { return NAME##_over(a, every(a), keepdims, s); } \
  array NAME(const array& a, const std::vector<int>& axes, bool keepdims, StreamOrDevice s) {                   \
    return NAME##_over(a, axes_of(#NAME, axes, a.ndim()), keepdims, s);                                         \
  }                                                                                                             \
  array NAME(const array& a, int axis, bool keepdims, StreamOrDevice s) {                                       \
    return NAME##_over(a, {axis_of(#NAME, axis, a.ndim())}, keepdims, s);                                       \
  }
LT_REDUCTION(sum)
LT_REDUCTION(prod)
LT_REDUCTION(max)
LT_REDUCTION(min)
LT_REDUCTION(all)
LT_REDUCTION(any)
LT_REDUCTION(mean)
LT_REDUCTION(logsumexp)
LT_REDUCTION(median)
#undef LT_REDUCTION
#define LT_SPREAD(NAME)                                                                                 \
  array NAME(const array& a, bool keepdims, int ddof, StreamOrDevice s) {                               \
    return NAME##_over(a, every(a), keepdims, ddof, s);                                                 \
  }                                                                                                     \
  array NAME(const array& a, const std::vector<int>& axes, bool keepdims, int ddof, StreamOrDevice s) { \
    return NAME##_over(a, axes_of(#NAME, axes, a.ndim()), keepdims, ddof, s);                           \
  }                                                                                                     \
  array NAME(const array& a, int axis, bool keepdims, int ddof, StreamOrDevice s) {                     \
    return NAME##_over(a, {axis_of(#NAME, axis, a.ndim())}, keepdims, ddof, s);                         \
  }
LT_SPREAD(var)
LT_SPREAD(std)
#undef LT_SPREAD

array count_nonzero(const array& a, bool keepdims, StreamOrDevice s) { return sum(truth(a, s), keepdims, s); }
array count_nonzero(const array& a, int axis, bool keepdims, StreamOrDevice s) {
  return sum(truth(a, s), axis, keepdims, s);
}
array count_nonzero(const array& a, const std::vector<int>& axes, bool keepdims, StreamOrDevice s) {
  return sum(truth(a, s), axes, keepdims, s);
}

namespace {
array arg_of(std::string_view name, const array& a, int axis, bool keepdims, bool most, StreamOrDevice s) {
  const int64_t d = axis_of(name, axis, a.ndim());
  check_not_empty(name, a, {d});
  const array made = arg_reduce(a, d, most, s);
  return keepdims ? with_ones(made, a.shape(), {d}, s) : made;
}
array arg_of_all(std::string_view name, const array& a, bool keepdims, bool most, StreamOrDevice s) {
  const array made = arg_of(name, reshape(a, {-1}, s), 0, false, most, s);
  return keepdims ? reshape_to(made, Shape(a.ndim(), 1), s) : made;
}
}  // namespace
array argmax(const array& a, bool keepdims, StreamOrDevice s) { return arg_of_all("argmax", a, keepdims, true, s); }
array argmax(const array& a, int axis, bool keepdims, StreamOrDevice s) {
  return arg_of("argmax", a, axis, keepdims, true, s);
}
array argmin(const array& a, bool keepdims, StreamOrDevice s) { return arg_of_all("argmin", a, keepdims, false, s); }
array argmin(const array& a, int axis, bool keepdims, StreamOrDevice s) {
  return arg_of("argmin", a, axis, keepdims, false, s);
}

array softmax(const array& a, const std::vector<int>& axes, bool precise, StreamOrDevice s) {
  const Dims over = axes_of("softmax", axes, a.ndim());
  array x = to_float(a, s);
  const Dtype dtype = x.dtype();
  if (precise) x = as_type(x, float32, s);
  const array most = stop_gradient(max_over(x, over, true, s), s);
  const array e = exp(x - broadcast_as("softmax", most, x.shape(), s), s);
  return as_type(e / broadcast_as("softmax", fold(e, Reducer::kSum, over, true, s), x.shape(), s), dtype, s);
}
array softmax(const array& a, bool precise, StreamOrDevice s) {
  std::vector<int> axes(a.ndim());
  std::iota(axes.begin(), axes.end(), 0);
  return softmax(a, axes, precise, s);
}

namespace {
array line_of(const array& a, StreamOrDevice s) { return reshape(a, {-1}, s); }

/// What stands before the first element of a fold without it.
array shifted_by_one(const array& folded, double first, int64_t axis, bool reverse, StreamOrDevice s) {
  const size_t rank = folded.ndim();
  Dims starts(rank, 0), stops = folded.shape(), zero(rank, 0), low(rank, 0), high(rank, 0);
  const int64_t extent = folded.shape()[at(axis)];
  if (extent == 0) return folded;
  starts[at(axis)] = reverse ? 1 : 0;
  stops[at(axis)] = reverse ? extent : extent - 1;
  (reverse ? high : low)[at(axis)] = 1;
  return pad_with(slice_of(folded, starts, stops, Dims(rank, 1), s), constant(first, folded.dtype(), {}, s), low, high,
                  zero, s);
}

array run(std::string_view name, const array& a, Running kind, int axis, bool reverse, bool inclusive,
          StreamOrDevice s) {
  const int64_t d = axis_of(name, axis, a.ndim());
  const array x = kind == Running::kSum || kind == Running::kProduct ? summand(a, s) : a;
  const array folded = running(x, kind, d, reverse, s);
  if (inclusive) return folded;
  double first = 0;
  switch (kind) {
    case Running::kSum: first = 0; break;
    case Running::kProduct: first = 1; break;
    case Running::kMaximum:
    case Running::kMinimum:
      first = kind == Running::kMaximum ? -INFINITY : INFINITY;
      if (!issubdtype(x.dtype(), floating)) {
        const bool is_64 = x.dtype().size() == 8;
        if (is_64 || issubdtype(x.dtype(), unsignedinteger))
          fault(name, "found {} without `inclusive`, expected floats or signed integers of up to 32 bits",
                dtype_to_string(x.dtype()));
        first = (kind == Running::kMaximum ? -1.0 : 1.0) * std::ldexp(1.0, 8 * x.dtype().size() - 1) -
                (kind == Running::kMaximum ? 0 : 1);
      }
  }
  return shifted_by_one(folded, first, d, reverse, s);
}
}  // namespace

#define LT_RUNNING(NAME, KIND)                                                           \
  array NAME(const array& a, bool reverse, bool inclusive, StreamOrDevice s) {           \
    return run(#NAME, line_of(a, s), KIND, 0, reverse, inclusive, s);                    \
  }                                                                                      \
  array NAME(const array& a, int axis, bool reverse, bool inclusive, StreamOrDevice s) { \
    return run(#NAME, a, KIND, axis, reverse, inclusive, s);                             \
  }
LT_RUNNING(cumsum, Running::kSum)
LT_RUNNING(cumprod, Running::kProduct)
LT_RUNNING(cummax, Running::kMaximum)
LT_RUNNING(cummin, Running::kMinimum)
#undef LT_RUNNING
array logcumsumexp(const array& a, int axis, bool reverse, bool inclusive, StreamOrDevice s) {
  const int64_t d = axis_of("logcumsumexp", axis, a.ndim());
  const array x = to_float(a, s);
  // Each sum is made beside the largest of the elements in it; pairs (maximum, sum of exponentials) are combined in
  // log2(n) steps, each over twice as many elements.
  array most = stop_gradient(x, s), total = exp(x - most, s);
  const int64_t extent = x.shape()[at(d)];
  for (int64_t reach = 1; reach < extent; reach *= 2) {
    const auto moved = [&](const array& from, double fill) {
      Dims low(x.ndim(), 0), high(x.ndim(), 0);
      low[at(d)] = reverse ? -reach : reach;
      high[at(d)] = -low[at(d)];
      return pad_with(from, constant(fill, x.dtype(), {}, s), low, high, Dims(x.ndim(), 0), s);
    };
    const array other = moved(most, -INFINITY), others = moved(total, 0);
    const array greater_one = maximum(most, other, s);
    const array finite = where(isfinite(greater_one, s), greater_one, zeros_like(greater_one, s), s);
    total = total * exp(most - finite, s) + others * exp(other - finite, s);
    most = finite;
  }
  const array folded = most + log(total, s);
  return inclusive ? folded : shifted_by_one(folded, -INFINITY, d, reverse, s);
}
array logcumsumexp(const array& a, bool reverse, bool inclusive, StreamOrDevice s) {
  return logcumsumexp(line_of(a, s), 0, reverse, inclusive, s);
}
array diff(const array& a, int n, int axis, StreamOrDevice s) {
  const int64_t d = axis_of("diff", axis, a.ndim());
  if (n < 0) fault("diff", "found {} differences, expected 0 or more", n);
  array x = a;
  for (int k = 0; k < n && x.shape()[at(d)] > 0; ++k) {
    Dims one(x.ndim(), 0), stops = x.shape(), before = x.shape();
    one[at(d)] = 1;
    --before[at(d)];
    const Dims steps(x.ndim(), 1);
    const array after = slice_of(x, one, stops, steps, s), first = slice_of(x, Dims(x.ndim(), 0), before, steps, s);
    x = x.dtype().val == Dtype::Val::bool_ ? not_equal(after, first, s) : after - first;
  }
  return x;
}

array sort(const array& a, int axis, StreamOrDevice s) { return sort_by({a}, axis_of("sort", axis, a.ndim()), s)[0]; }
array sort(const array& a, StreamOrDevice s) { return sort(line_of(a, s), 0, s); }
array argsort(const array& a, int axis, StreamOrDevice s) {
  const int64_t d = axis_of("argsort", axis, a.ndim());
  return sort_by({a, counter(a.shape(), uint32, d, s)}, d, s)[1];
}
array argsort(const array& a, StreamOrDevice s) { return argsort(line_of(a, s), 0, s); }
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
array partition(const array& a, int kth, StreamOrDevice s) { return partition(line_of(a, s), kth, 0, s); }
array argpartition(const array& a, int kth, int axis, StreamOrDevice s) {
  check_kth("argpartition", a, kth, axis_of("argpartition", axis, a.ndim()));
  return argsort(a, axis, s);
}
array argpartition(const array& a, int kth, StreamOrDevice s) { return argpartition(line_of(a, s), kth, 0, s); }
array topk(const array& a, int k, int axis, StreamOrDevice s) {
  const int64_t d = axis_of("topk", axis, a.ndim()), extent = a.shape()[at(d)];
  if (k < 0 || k > extent) fault("topk", "found k = {}, expected at most {}", k, extent);
  Dims starts(a.ndim(), 0), stops = a.shape();
  starts[at(d)] = extent - k;
  return slice_of(sort(a, axis, s), starts, stops, Dims(a.ndim(), 1), s);
}
array topk(const array& a, int k, StreamOrDevice s) { return topk(line_of(a, s), k, 0, s); }

array searchsorted(const array& a, const array& values, bool right, StreamOrDevice s) {
  if (a.ndim() != 1) fault("searchsorted", "found a of shape {}, expected a vector", to_string(a.shape()));
  const Dtype dtype = promote_types(a.dtype(), values.dtype());
  const array table = as_type(a, dtype, s), sought = as_type(values, dtype, s);
  const int64_t n = a.shape()[0];
  // Halved until nothing is left: `low` is how many elements are known to stand before.
  array low = constant(0, int32, values.shape(), s), high = constant(static_cast<double>(n), int32, values.shape(), s);
  for (int64_t left = n; left > 0; left /= 2) {
    const array open = less(low, high, s);
    const array mid = right_shift(low + high, array(1), s);
    const array element = take(table, minimum(mid, array(static_cast<int>(n - 1)), s), s);
    const array before = right ? less_equal(element, sought, s) : less(element, sought, s);
    low = where(logical_and(open, before, s), mid + 1, low, s);
    high = where(logical_and(open, logical_not(before, s), s), mid, high, s);
  }
  return as_type(low, uint32, s);
}

}  // namespace lowtide
