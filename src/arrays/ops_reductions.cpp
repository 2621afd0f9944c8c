// Reductions and running folds.
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

/// Booleans and small integers are summed in int32.
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
  if (axes.empty()) return a;
  return fold(summand(a, s), Reducer::kSum, axes, keepdims, s);
}
array prod_over(const array& a, const Dims& axes, bool keepdims, StreamOrDevice s) {
  if (axes.empty()) return a;
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
  const array sizes =
      x.dtype().val == Dtype::Val::complex64 ? square(real(apart, s), s) + square(imag(apart, s), s) : square(apart, s);
  const array total = fold(sizes, Reducer::kSum, axes, keepdims, s);
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
      ascending({reshape_to(permute(to_float(a, s), order, s), line, s)}, static_cast<int64_t>(line.size()) - 1, s)[0];
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

std::tuple<array, array> minmax(const array& a, bool keepdims, StreamOrDevice s) {
  return {min(a, keepdims, s), max(a, keepdims, s)};
}
std::tuple<array, array> minmax(const array& a, const std::vector<int>& axes, bool keepdims, StreamOrDevice s) {
  return {min(a, axes, keepdims, s), max(a, axes, keepdims, s)};
}
std::tuple<array, array> minmax(const array& a, int axis, bool keepdims, StreamOrDevice s) {
  return {min(a, axis, keepdims, s), max(a, axis, keepdims, s)};
}

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
  array x = a;
  if (a.dtype().val == Dtype::Val::complex64) {  // imaginary parts where the real part is the extreme one
    const array parts = real(a, s), extreme = most ? max(parts, axis, true, s) : min(parts, axis, true, s);
    x = where(equal(parts, extreme, s), imag(a, s), constant(most ? -INFINITY : INFINITY, float32, {}, s), s);
  }
  const array made = arg_reduce(x, d, most, s);
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
  if (x.size() == 0) return x;
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

/// Shifts a running fold by one element, for an exclusive fold; `first`, a scalar, becomes its first element.
array shifted_by_one(const array& folded, const array& first, int64_t axis, bool reverse, StreamOrDevice s) {
  const size_t rank = folded.ndim();
  Dims starts(rank, 0), stops = folded.shape(), zero(rank, 0), low(rank, 0), high(rank, 0);
  const int64_t extent = folded.shape()[at(axis)];
  if (extent == 0) return folded;
  starts[at(axis)] = reverse ? 1 : 0;
  stops[at(axis)] = reverse ? extent : extent - 1;
  (reverse ? high : low)[at(axis)] = 1;
  return pad_with(slice_of(folded, starts, stops, Dims(rank, 1), s), first, low, high, zero, s);
}

/// The neutral element of the fold: for a maximum the type's smallest number, and so on.
array neutral(Running kind, Dtype dtype, StreamOrDevice s) {
  if (kind == Running::kSum) return constant(0, dtype, {}, s);
  if (kind == Running::kProduct) return constant(1, dtype, {}, s);
  const bool most = kind == Running::kMaximum;
  if (dtype.val == Dtype::Val::complex64) {
    const array end = constant(most ? -INFINITY : INFINITY, float32, {}, s);
    return elementwise(Op::kComplex, {end, end}, complex64, s);
  }
  if (issubdtype(dtype, floating)) return constant(most ? -INFINITY : INFINITY, dtype, {}, s);
  const double least = issubdtype(dtype, signedinteger) ? -std::ldexp(1.0, 8 * dtype.size() - 1) : 0;
  const array end = constant(least, dtype, {}, s);
  return most ? end : bitwise_invert(end, s);
}

array run(std::string_view name, const array& a, Running kind, int axis, bool reverse, bool inclusive,
          StreamOrDevice s) {
  const int64_t d = axis_of(name, axis, a.ndim());
  const bool is_bool = a.dtype().val == Dtype::Val::bool_;
  const array x = kind == Running::kSum && is_bool ? as_type(a, int32, s) : a;
  const Running fold = kind == Running::kProduct && is_bool ? Running::kMinimum : kind;  // true if all are
  const array folded = running(x, fold, d, reverse, s);
  return inclusive ? folded : shifted_by_one(folded, neutral(fold, x.dtype(), s), d, reverse, s);
}
array summed_as(const array& a, std::optional<Dtype> dtype, StreamOrDevice s) {
  return dtype ? as_type(a, *dtype, s) : a;
}
}  // namespace

#define LT_RUNNING(NAME, KIND)                                                                                       \
  array NAME(const array& a, bool reverse, bool inclusive, std::optional<Dtype> dtype, StreamOrDevice s) {           \
    return run(#NAME, line_of(summed_as(a, dtype, s), s), KIND, 0, reverse, inclusive, s);                           \
  }                                                                                                                  \
  array NAME(const array& a, int axis, bool reverse, bool inclusive, std::optional<Dtype> dtype, StreamOrDevice s) { \
    return run(#NAME, summed_as(a, dtype, s), KIND, axis, reverse, inclusive, s);                                    \
  }
LT_RUNNING(cumsum, Running::kSum)
LT_RUNNING(cumprod, Running::kProduct)
#undef LT_RUNNING
#define LT_RUNNING(NAME, KIND)                                                           \
  array NAME(const array& a, bool reverse, bool inclusive, StreamOrDevice s) {           \
    return run(#NAME, line_of(a, s), KIND, 0, reverse, inclusive, s);                    \
  }                                                                                      \
  array NAME(const array& a, int axis, bool reverse, bool inclusive, StreamOrDevice s) { \
    return run(#NAME, a, KIND, axis, reverse, inclusive, s);                             \
  }
LT_RUNNING(cummax, Running::kMaximum)
LT_RUNNING(cummin, Running::kMinimum)
#undef LT_RUNNING
array logcumsumexp(const array& a, int axis, bool reverse, bool inclusive, StreamOrDevice s) {
  const int64_t d = axis_of("logcumsumexp", axis, a.ndim());
  const array x = to_float(a, s);
  // Each running sum is scaled by the largest of its elements; the pairs (maximum, sum of exponentials) are combined in
  // log2(n) steps, each of which covers twice as many elements.
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
  return inclusive ? folded : shifted_by_one(folded, constant(-INFINITY, x.dtype(), {}, s), d, reverse, s);
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

}  // namespace lowtide
