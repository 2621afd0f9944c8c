// Random distributions, computed by the same steps and with the same roundings as MLX's.
#include "lowtide/random.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "arrays/runtime.h"
#include "arrays/support.h"
#include "lowtide/control.h"
#include "lowtide/ops.h"

namespace lowtide::random {

using namespace lazy;

namespace {

array key_or_next(std::string_view name, const std::optional<array>& key, StreamOrDevice s) {
  if (key) {
    if (key->dtype().val != Dtype::Val::uint32 || key->shape() != Shape{2})
      fault(name, "found a key of {} and shape {}, expected uint32 and (2,)", dtype_to_string(key->dtype()),
            to_string(key->shape()));
    return *key;
  }
  std::optional<array>& sequence = this_thread().key;
  if (!sequence) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    seed(static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()));
  }
  const auto [next, mine] = random::split(*sequence, s);
  array kept = next;
  kept.eval();  // otherwise each key's graph would include all earlier keys
  sequence = kept;
  return mine;
}

void check_shape(std::string_view name, const Shape& shape) {
  for (const int64_t extent : shape) {
    if (extent < 0) fault(name, "found the shape {}, expected extents from 0 on", to_string(shape));
  }
}
void check_float(std::string_view name, Dtype dtype) {
  if (dtype.val != Dtype::Val::float32 && dtype.val != Dtype::Val::float16 && dtype.val != Dtype::Val::bfloat16)
    fault(name, "found {}, expected float32, float16 or bfloat16", dtype_to_string(dtype));
}

array words(std::string_view name, const Shape& shape, const std::optional<array>& key, StreamOrDevice s) {
  check_shape(name, shape);
  return random_bits(key_or_next(name, key, s), shape, s);
}

array product(const array& a, const array& b, Dtype dtype, StreamOrDevice s) {
  return as_type(multiply(a, b, s), dtype, s);
}

/// Is it a computed scalar of this value, which no transformation replaces?
bool is_scalar(const array& a, float value) {
  return a.ndim() == 0 && !a.state()->trace && a.is_available() && !issubdtype(a.dtype(), complexfloating) &&
         a.item<float>() == value;
}

/// erfinv of float32 numbers in (-1, 1).
array unit_normal(const Shape& shape, const std::optional<array>& key, StreamOrDevice s) {
  const array share = elementwise(Op::kUniformOfBits, {words("normal", shape, key, s)}, float32, s);
  const array least = constant(static_cast<double>(std::nextafter(-1.0F, 0.0F)), float32, {}, s);
  return elementwise(Op::kErfinv, share * constant(2, float32, {}, s) + least, s);
}

}  // namespace

array key(uint64_t seed) {
  const uint32_t halves[] = {static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(seed)};
  return array(halves, {2}, uint32);
}
void seed(uint64_t seed) { this_thread().key = key(seed); }

UseBits::UseBits(Bits bits) : before_(static_cast<Bits>(this_thread().words)) {
  this_thread().words = static_cast<Words>(bits);
}
UseBits::~UseBits() { this_thread().words = static_cast<Words>(before_); }
static_assert(static_cast<int>(Bits::Mlx) == static_cast<int>(Words::kHalves) &&
              static_cast<int>(Bits::Partitionable) == static_cast<int>(Words::kPartitionable) &&
              static_cast<int>(Bits::Philox) == static_cast<int>(Words::kPhilox));

array split(const array& key, int num, StreamOrDevice s) {
  if (this_thread().words != Words::kPartitionable) return bits({num, 2}, 4, key, s);
  check_shape("split", {num, 2});
  return random_words(key_or_next("split", key, s), {num, 2}, Words::kPairs);
}
std::pair<array, array> split(const array& key, StreamOrDevice s) {
  const array both = random::split(key, 2, s);
  return {take(both, 0, 0, s), take(both, 1, 0, s)};
}

array bits(const Shape& shape, int width, const std::optional<array>& key, StreamOrDevice s) {
  if (width != 4 && width != 2 && width != 1) fault("bits", "found a width of {}, expected 4, 2 or 1", width);
  check_shape("bits", shape);
  if (width == 4) return words("bits", shape, key, s);
  if (this_thread().words != Words::kHalves) {
    const array mask = constant(width == 2 ? 0xffff : 0xff, uint32, {}, s);
    return as_type(bitwise_and(words("bits", shape, key, s), mask, s), width == 2 ? uint16 : uint8, s);
  }
  // Narrow integers are the bytes of words.
  const int64_t count = element_count(shape), bytes = count * width;
  const array line = view(words("bits", {(bytes + 3) / 4}, key, s), width == 2 ? uint16 : uint8, s);
  return reshape_to(slice_of(line, {0}, {count}, {1}, s), shape, s);
}

array uniform(const array& low, const array& high, const Shape& shape, Dtype dtype, const std::optional<array>& key,
              StreamOrDevice s) {
  check_float("uniform", dtype);
  // Between 0 and 1 the numbers are neither multiplied nor moved, which takes a third of the time in bfloat16.
  if (is_scalar(low, 0) && is_scalar(high, 1)) return uniform(shape, dtype, key, s);
  const array least = as_type(low, dtype, s), range = subtract(as_type(high, dtype, s), least, s);
  if (broadcast_shape("uniform", shape, range.shape()) != shape)
    fault("uniform", "found bounds of shape {}, which can't be broadcast to {}", to_string(range.shape()),
          to_string(shape));
  const array share = elementwise(Op::kUniformOfBits, {words("uniform", shape, key, s)}, dtype, s);
  return add(elementwise(Op::kRounded, multiply(range, share, s), s), least, s);
}
array uniform(const Shape& shape, Dtype dtype, const std::optional<array>& key, StreamOrDevice s) {
  return uniform(constant(0, dtype, {}, s), constant(1, dtype, {}, s), shape, dtype, key, s);
}

namespace {
/// The next lower number of each element; subnormal numbers are skipped.
array before(const array& a, StreamOrDevice s) {
  const Dtype bits = a.dtype().size() == 2 ? int16 : int32;
  const array zero = constant(0, a.dtype(), {}, s), one = constant(1, bits, {}, s), whole = view(a, bits, s);
  const double least = a.dtype().val == Dtype::Val::float16 ? 0x1p-14 : 0x1p-126;
  const array tiny = constant(least, a.dtype(), {}, s);
  const array next = view(where(greater(a, zero, s), whole - one, whole + one, s), a.dtype(), s);
  return where(greater(lowtide::abs(a, s), tiny, s), next, where(greater(a, zero, s), zero, negative(tiny, s), s), s);
}
}  // namespace

array half_open(const array& low, const array& high, const Shape& shape, Dtype dtype, const std::optional<array>& key,
                StreamOrDevice s) {
  const array drawn = uniform(low, high, shape, dtype, key, s), most = as_type(high, dtype, s);
  return where(less(drawn, most, s), drawn, before(most, s), s);
}

namespace {
/// product + by, where the product is rounded before the addition, as in MLX's separate operations.
array moved(const array& product, const array& by, StreamOrDevice s) {
  return add(by, elementwise(Op::kRounded, product, s), s);
}
}  // namespace

array normal(const Shape& shape, Dtype dtype, const std::optional<array>& loc, const std::optional<array>& scale,
             const std::optional<array>& key, StreamOrDevice s) {
  std::optional<array> made;
  if (dtype.val == Dtype::Val::complex64) {
    Shape pairs = shape;
    pairs.push_back(2);
    const array both = unit_normal(pairs, key, s);
    made = elementwise(Op::kComplex, {take(both, 0, -1, s), take(both, 1, -1, s)}, complex64, s);
    if (scale) made = product(as_type(*scale, dtype, s), *made, dtype, s);
  } else {
    check_float("normal", dtype);
    array by = constant(std::sqrt(2.0), dtype, {}, s);
    if (scale) by = multiply(by, as_type(*scale, dtype, s), s);
    made = multiply(by, as_type(unit_normal(shape, key, s), dtype, s), s);
  }
  return loc ? moved(*made, as_type(*loc, dtype, s), s) : *made;
}

namespace {

/// The square root of symmetric matrices without negative eigenvalues, by the Newton-Schulz iteration: with y = a / |a|
/// and z = 1, y (3 - z y) / 2 converges quadratically to the root; eigenvalues of 0 stay 0.
array root_of(const array& a, StreamOrDevice s) {
  const array wide = as_type(a, float64, s);
  const auto n = static_cast<int>(a.shape(-1));
  const array size = sqrt(sum(square(wide, s), {-2, -1}, true, s), s);
  const array scale = where(greater(size, constant(0, float64, {}, s), s), size, ones_like(size, s), s);
  const array three = constant(3, float64, {}, s) * eye(n, float64, s), half = constant(0.5, float64, {}, s);
  const auto step = [&](const std::vector<array>& now, const std::vector<array>&) {
    const array turn = (three - matmul(now[1], now[0], s)) * half;
    return std::pair(std::vector<array>{matmul(now[0], turn, s), matmul(turn, now[1], s)}, std::vector<array>{});
  };
  const array start = broadcast_to(eye(n, float64, s), a.shape(), s);
  const auto made = scan(step, {divide(wide, scale, s), start}, {}, 40).first;
  return made[0] * sqrt(scale, s);
}

}  // namespace

array multivariate_normal(const array& mean, const array& cov, const Shape& shape, Dtype dtype,
                          const std::optional<array>& key, StreamOrDevice s) {
  if (dtype.val != Dtype::Val::float32)
    fault("multivariate_normal", "found {}, expected float32", dtype_to_string(dtype));
  if (mean.ndim() < 1 || cov.ndim() < 2 || cov.shape(-1) != cov.shape(-2) || cov.shape(-1) != mean.shape(-1))
    fault("multivariate_normal", "found a mean of shape {} and a covariance of shape {}", to_string(mean.shape()),
          to_string(cov.shape()));
  const Shape of_mean(mean.shape().begin(), mean.shape().end() - 1), of_cov(cov.shape().begin(), cov.shape().end() - 2);
  Shape whole = broadcast_shape("multivariate_normal", shape, broadcast_shape("multivariate_normal", of_mean, of_cov));
  whole.push_back(mean.shape(-1));
  const array z = normal(whole, float32, key, s);
  const array moved = matmul(expand_dims(z, -2, s), as_type(root_of(cov, s), float32, s), s);
  return add(as_type(mean, float32, s), squeeze(moved, -2, s), s);
}

array randint(const array& low, const array& high, const Shape& shape, Dtype dtype, const std::optional<array>& key,
              StreamOrDevice s) {
  if (issubdtype(dtype, inexact)) fault("randint", "found {}, expected integers", dtype_to_string(dtype));
  const array drawn = as_type(floor(uniform(low, high, shape, float32, key, s), s), dtype, s);
  return maximum(minimum(drawn, as_type(subtract(high, array(1, high.dtype()), s), dtype, s), s),
                 as_type(low, dtype, s), s);
}

array integers(const array& low, const array& high, const Shape& shape, Dtype dtype, const std::optional<array>& key,
               StreamOrDevice s) {
  if (!issubdtype(dtype, integer)) fault("integers", "found {}, expected integers", dtype_to_string(dtype));
  const array least = as_type(low, uint64, s), range = as_type(high, uint64, s) - least;
  if (broadcast_shape("integers", shape, range.shape()) != shape)
    fault("integers", "found bounds of shape {}, which can't be broadcast to {}", to_string(range.shape()),
          to_string(shape));
  // A draw is accepted below the largest multiple of the range that fits into 64 bits: 2^64 less 2^64 mod range.
  // Rejected draws are marked by the range itself, which no draw equals; if it doesn't fit into the type, all are
  // accepted.
  const Dtype bits = dtype.size() == 8 ? uint64 : dtype.size() == 4 ? uint32 : dtype.size() == 2 ? uint16 : uint8;
  const array one = constant(1, uint64, {}, s);
  const array wide = where(equal(range, constant(0, uint64, {}, s), s), one, range, s), mark = as_type(wide, bits, s);
  const array most = bitwise_invert(remainder(bitwise_invert(wide - one, s), wide, s), s);  // the last one accepted
  const array marks = equal(as_type(mark, uint64, s), wide, s);
  const auto draw = [&](const array& from) {
    Shape pairs = shape;
    pairs.push_back(2);
    const array both = as_type(random_bits(from, pairs, s), uint64, s);
    const array high = left_shift(take(both, 0, -1, s), constant(32, uint64, {}, s), s);
    const array word = bitwise_or(high, take(both, 1, -1, s), s);
    return where(less_equal(word, most, s), as_type(remainder(word, wide, s), bits, s), mark, s);
  };
  const auto is_open = [&](const array& drawn) { return logical_and(equal(drawn, mark, s), marks, s); };
  const auto again = [&](const std::vector<array>& now) {
    const auto [next, mine] = random::split(now[1], s);
    return std::vector<array>{where(is_open(now[0]), draw(mine), now[0], s), next};
  };
  const auto [next, mine] = random::split(key_or_next("integers", key, s), s);
  const array drawn =
      while_loop([&](const std::vector<array>& now) { return any(is_open(now[0]), s); }, again, {draw(mine), next})[0];
  return as_type(drawn + as_type(least, bits, s), dtype, s);
}

array bernoulli(const array& p, const Shape& shape, const std::optional<array>& key, StreamOrDevice s) {
  if (!issubdtype(p.dtype(), floating))
    fault("bernoulli", "found p of {}, expected floats", dtype_to_string(p.dtype()));
  if (broadcast_shape("bernoulli", shape, p.shape()) != shape)
    fault("bernoulli", "found p of shape {}, which can't be broadcast to {}", to_string(p.shape()), to_string(shape));
  const array bound =
      multiply(p, constant(static_cast<double>(std::nextafter(4294967296.0F, 1e20F)), float32, {}, s), s);
  return less(as_type(words("bernoulli", shape, key, s), float32, s), bound, s);
}
array bernoulli(const array& p, const std::optional<array>& key, StreamOrDevice s) {
  return bernoulli(p, p.shape(), key, s);
}
array bernoulli(const std::optional<array>& key, StreamOrDevice s) { return bernoulli(array(0.5F), key, s); }

array truncated_normal(const array& lower, const array& upper, const Shape& shape, Dtype dtype,
                       const std::optional<array>& key, StreamOrDevice s) {
  check_float("truncated_normal", dtype);
  const array root = constant(std::sqrt(2.0), dtype, {}, s);
  const array least = as_type(lower, dtype, s), most = as_type(upper, dtype, s);
  const auto share = [&](const array& bound) { return elementwise(Op::kErfOfGolden, divide(bound, root, s), s); };
  const array u = uniform(share(least), share(most), shape, dtype, key, s);
  const array drawn = multiply(root, elementwise(Op::kErfinv, u, s), s);
  return maximum(minimum(most, drawn, s), least, s);
}
array truncated_normal(const array& lower, const array& upper, Dtype dtype, const std::optional<array>& key,
                       StreamOrDevice s) {
  return truncated_normal(lower, upper, broadcast_shape("truncated_normal", lower.shape(), upper.shape()), dtype, key,
                          s);
}

array gumbel(const Shape& shape, Dtype dtype, const std::optional<array>& key, StreamOrDevice s) {
  check_float("gumbel", dtype);
  const auto minus_log = [&](const array& x) { return negative(elementwise(Op::kLogOfGolden, x, s), s); };
  return minus_log(minus_log(uniform(shape, dtype, key, s)));
}

array laplace(const Shape& shape, Dtype dtype, const float loc, const float scale, const std::optional<array>& key,
              StreamOrDevice s) {
  check_float("laplace", dtype);
  const array share = elementwise(Op::kUniformOfBits, {words("laplace", shape, key, s)}, float32, s);
  const array v =
      share * constant(2, float32, {}, s) + constant(static_cast<double>(std::nextafter(-1.0F, 0.0F)), float32, {}, s);
  const array size = elementwise(Op::kLog1pOfGolden, negative(abs(v, s), s), s);
  array made = as_type(multiply(sign(v, s), size, s), dtype, s);
  if (scale != 1) made = multiply(array(scale, dtype), made, s);
  return loc == 0 ? made : moved(made, array(loc, dtype), s);
}

namespace {

/// One draw per element by the Gumbel-max trick: the index of the largest logit with independent noise.
array by_largest(const array& logits, int64_t axis, const Shape& shape, int64_t offset, const std::optional<array>& key,
                 StreamOrDevice s) {
  Shape noise = shape;
  noise.insert(noise.begin() + offset, logits.shape()[at(axis)]);
  return argmax(add(gumbel(noise, float32, key, s), logits, s), static_cast<int>(offset), false, s);
}

/// Many draws from one distribution: binary search of uniform numbers in its cumulative sums.
array by_place(const array& logits, const Shape& shape, const std::optional<array>& key, StreamOrDevice s) {
  const array line = as_type(reshape(logits, {-1}, s), float32, s);
  const array most = max(line, s);
  const array plain = elementwise(Op::kExpOfGolden, line - most, s);
  const array whole = where(isposinf(most, s), as_type(equal(line, most, s), float32, s), plain, s);
  const array total = cumsum(whole, 0, false, true, s);
  const array before = cumsum(whole, 0, false, false, s);
  const array u = multiply(uniform(shape, float32, key, s), take(total, -1, 0, s), s);
  return as_type(subtract(searchsorted(before, u, "right", s), array(1U), s), uint32, s);
}

array drawn(const array& logits, int64_t axis, const Shape& shape, const std::optional<array>& key, StreamOrDevice s) {
  const int64_t offset = axis + static_cast<int64_t>(shape.size()) - static_cast<int64_t>(logits.ndim()) + 1;
  const bool one = static_cast<int64_t>(logits.size()) == logits.shape()[at(axis)];
  return one && !shape.empty() ? by_place(logits, shape, key, s) : by_largest(logits, axis, shape, offset, key, s);
}

Shape without(const Shape& shape, int64_t axis) {
  Shape rest = shape;
  rest.erase(rest.begin() + axis);
  return rest;
}

}  // namespace

array categorical(const array& logits, int axis, const Shape& shape, const std::optional<array>& key,
                  StreamOrDevice s) {
  const int64_t d = axis_of("categorical", axis, logits.ndim());
  const Shape rest = without(logits.shape(), d);
  if (broadcast_shape("categorical", shape, rest) != shape)
    fault("categorical", "found logits of shape {}, which can't be broadcast to {}", to_string(logits.shape()),
          to_string(shape));
  return drawn(logits, d, shape, key, s);
}
array categorical(const array& logits, int axis, int num_samples, const std::optional<array>& key, StreamOrDevice s) {
  const int64_t d = axis_of("categorical", axis, logits.ndim());
  if (num_samples < 0) fault("categorical", "found {} samples", num_samples);
  const array wide = expand_dims(logits, -1, s);
  Shape shape = without(wide.shape(), d);
  shape.back() = num_samples;
  return drawn(wide, d, shape, key, s);
}
array categorical(const array& logits, int axis, const std::optional<array>& key, StreamOrDevice s) {
  const int64_t d = axis_of("categorical", axis, logits.ndim());
  return drawn(logits, d, without(logits.shape(), d), key, s);
}

array permutation(int x, const std::optional<array>& key, StreamOrDevice s) { return argsort(bits({x}, 4, key, s), s); }
array permutation(const array& x, int axis, const std::optional<array>& key, StreamOrDevice s) {
  return take(x, permutation(static_cast<int>(x.shape(axis)), key, s), axis, s);
}

}  // namespace lowtide::random
