#pragma once
/// Operations on arrays. Each returns at once; shapes and types are checked then, and std::invalid_argument names the
/// operation, what it found and what it expected. Operands of different shapes are broadcast as NumPy does it (trailing
/// dimensions are equal, or 1), types are promoted by promote_types(). Functions of real numbers convert integers to
/// float32. Negative axes count from the end, and one that doesn't exist is std::out_of_range; without axes a reduction
/// is over all elements. The last argument says where the operation is evaluated (stream.h).

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/array.h"

namespace lowtide {

// ---- Making arrays

/// [start, start + step, ...), below stop; ceil((stop - start) / step) numbers. Integers if all arguments are int.
LOWTIDE_PUBLIC array arange(double start, double stop, double step, Dtype dtype, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arange(double start, double stop, double step, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arange(double start, double stop, Dtype dtype, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arange(double start, double stop, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arange(double stop, Dtype dtype, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arange(double stop, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arange(int start, int stop, int step, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arange(int start, int stop, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arange(int stop, StreamOrDevice s = {});
/// num evenly spaced numbers from start to stop, including stop if endpoint.
LOWTIDE_PUBLIC array linspace(double start, double stop, int num, bool endpoint, Dtype dtype = float32,
                              StreamOrDevice s = {});
inline array linspace(double start, double stop, int num = 50, Dtype dtype = float32, StreamOrDevice s = {}) {
  return linspace(start, stop, num, true, dtype, s);
}
LOWTIDE_PUBLIC array full(Shape shape, array vals, Dtype dtype, StreamOrDevice s = {});  ///< vals is broadcast
LOWTIDE_PUBLIC array full(Shape shape, array vals, StreamOrDevice s = {});
template <class T>
array full(Shape shape, T val, Dtype dtype, StreamOrDevice s = {}) {
  return full(std::move(shape), array(val, dtype), s);
}
template <class T>
array full(Shape shape, T val, StreamOrDevice s = {}) {
  return full(std::move(shape), array(val), s);
}
LOWTIDE_PUBLIC array full_like(const array& a, array vals, Dtype dtype, StreamOrDevice s = {});
LOWTIDE_PUBLIC array full_like(const array& a, array vals, StreamOrDevice s = {});
template <class T>
array full_like(const array& a, T val, StreamOrDevice s = {}) {
  return full_like(a, array(val, a.dtype()), s);
}
LOWTIDE_PUBLIC array zeros(const Shape& shape, Dtype dtype, StreamOrDevice s = {});
inline array zeros(const Shape& shape, StreamOrDevice s = {}) { return zeros(shape, float32, s); }
LOWTIDE_PUBLIC array zeros_like(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array zeros_like(const array& a, Dtype dtype, StreamOrDevice s = {});
LOWTIDE_PUBLIC array ones(const Shape& shape, Dtype dtype, StreamOrDevice s = {});
inline array ones(const Shape& shape, StreamOrDevice s = {}) { return ones(shape, float32, s); }
LOWTIDE_PUBLIC array ones_like(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array ones_like(const array& a, Dtype dtype, StreamOrDevice s = {});
/// Ones on the k-th diagonal of n x m zeros.
LOWTIDE_PUBLIC array eye(int n, int m, int k, Dtype dtype, StreamOrDevice s = {});
inline array eye(int n, Dtype dtype, StreamOrDevice s = {}) { return eye(n, n, 0, dtype, s); }
inline array eye(int n, int m, int k, StreamOrDevice s = {}) { return eye(n, m, k, float32, s); }
inline array eye(int n, int m, StreamOrDevice s = {}) { return eye(n, m, 0, float32, s); }
inline array eye(int n, StreamOrDevice s = {}) { return eye(n, n, 0, float32, s); }
LOWTIDE_PUBLIC array identity(int n, Dtype dtype, StreamOrDevice s = {});
inline array identity(int n, StreamOrDevice s = {}) { return identity(n, float32, s); }
/// tri: ones at and below the k-th diagonal. tril, triu: that part of x's last two dimensions, or the part at and above
/// it.
LOWTIDE_PUBLIC array tri(int n, int m, int k, Dtype dtype, StreamOrDevice s = {});
inline array tri(int n, Dtype dtype, StreamOrDevice s = {}) { return tri(n, n, 0, dtype, s); }
LOWTIDE_PUBLIC array tril(array x, int k = 0, StreamOrDevice s = {});
LOWTIDE_PUBLIC array triu(array x, int k = 0, StreamOrDevice s = {});
/// For [a0, a1, ...], coordinate arrays in which ai varies along dimension i (with "xy" the first two are exchanged).
LOWTIDE_PUBLIC std::vector<array> meshgrid(const std::vector<array>& arrays, bool sparse = false,
                                           const std::string& indexing = "xy", StreamOrDevice s = {});
/// Window functions of m points, with the value 1 in the middle.
LOWTIDE_PUBLIC array bartlett(int m, StreamOrDevice s = {});
LOWTIDE_PUBLIC array blackman(int m, StreamOrDevice s = {});
LOWTIDE_PUBLIC array hamming(int m, StreamOrDevice s = {});
LOWTIDE_PUBLIC array hanning(int m, StreamOrDevice s = {});

// ---- Types and shapes

LOWTIDE_PUBLIC array astype(array a, Dtype dtype, StreamOrDevice s = {});  ///< floats are truncated to integers
/// Reinterprets the bytes as another type; the last dimension grows or shrinks with the size of an element.
LOWTIDE_PUBLIC array view(const array& a, const Dtype& dtype, StreamOrDevice s = {});
LOWTIDE_PUBLIC array copy(array a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array contiguous(const array& a, bool allow_col_major = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array stop_gradient(const array& a, StreamOrDevice s = {});
/// The inputs, which become available only when the dependencies have been computed, too.
LOWTIDE_PUBLIC std::vector<array> depends(const std::vector<array>& inputs, const std::vector<array>& dependencies);
/// Floats of 8 bits (1 sign, 4 exponent, 3 fraction; E4M3FN) in uint8, rounded to even; beyond +-448, and NaN: +-448.
LOWTIDE_PUBLIC array to_fp8(array x, StreamOrDevice s = {});
LOWTIDE_PUBLIC array from_fp8(array x, Dtype dtype, StreamOrDevice s = {});
LOWTIDE_PUBLIC array reshape(const array& a, Shape shape, StreamOrDevice s = {});  ///< one extent may be -1
LOWTIDE_PUBLIC array unflatten(const array& a, int axis, Shape shape, StreamOrDevice s = {});
LOWTIDE_PUBLIC array flatten(const array& a, int start_axis, int end_axis = -1, StreamOrDevice s = {});
LOWTIDE_PUBLIC array flatten(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array squeeze(const array& a, const std::vector<int>& axes, StreamOrDevice s = {});
LOWTIDE_PUBLIC array squeeze(const array& a, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array squeeze(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array expand_dims(const array& a, const std::vector<int>& axes, StreamOrDevice s = {});
LOWTIDE_PUBLIC array expand_dims(const array& a, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array atleast_1d(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array atleast_2d(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array atleast_3d(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC std::vector<array> atleast_1d(const std::vector<array>& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC std::vector<array> atleast_2d(const std::vector<array>& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC std::vector<array> atleast_3d(const std::vector<array>& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array broadcast_to(const array& a, const Shape& shape, StreamOrDevice s = {});
LOWTIDE_PUBLIC std::vector<array> broadcast_arrays(const std::vector<array>& inputs, StreamOrDevice s = {});
LOWTIDE_PUBLIC array transpose(const array& a, std::vector<int> axes, StreamOrDevice s = {});
inline array transpose(const array& a, std::initializer_list<int> axes, StreamOrDevice s = {}) {
  return transpose(a, std::vector<int>(axes), s);
}
LOWTIDE_PUBLIC array transpose(const array& a, StreamOrDevice s = {});  ///< dimensions in reverse
LOWTIDE_PUBLIC array matrix_transpose(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array swapaxes(const array& a, int axis1, int axis2, StreamOrDevice s = {});
LOWTIDE_PUBLIC array moveaxis(const array& a, int source, int destination, StreamOrDevice s = {});
LOWTIDE_PUBLIC array flip(const array& a, const std::vector<int>& axes, StreamOrDevice s = {});
LOWTIDE_PUBLIC array flip(const array& a, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array flip(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array concatenate(std::vector<array> arrays, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array concatenate(std::vector<array> arrays, StreamOrDevice s = {});
LOWTIDE_PUBLIC array stack(const std::vector<array>& arrays, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array stack(const std::vector<array>& arrays, StreamOrDevice s = {});
/// split: parts of equal extent, or between indices. unstack: parts of extent 1, with that dimension removed.
LOWTIDE_PUBLIC std::vector<array> split(const array& a, int num_splits, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC std::vector<array> split(const array& a, int num_splits, StreamOrDevice s = {});
LOWTIDE_PUBLIC std::vector<array> split(const array& a, const Shape& indices, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC std::vector<array> split(const array& a, const Shape& indices, StreamOrDevice s = {});
LOWTIDE_PUBLIC std::vector<array> unstack(const array& a, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC std::vector<array> unstack(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array repeat(const array& a, int repeats, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array repeat(const array& a, int repeats, StreamOrDevice s = {});
LOWTIDE_PUBLIC array tile(const array& a, std::vector<int> reps, StreamOrDevice s = {});
/// mode: "constant", "edge" (repeats the outermost elements), "reflect" and "symmetric" (mirrors, without and with the
/// outermost elements).
LOWTIDE_PUBLIC array pad(const array& a, const std::vector<int>& axes, const Shape& low_pad_size,
                         const Shape& high_pad_size, const array& pad_value = array(0),
                         const std::string& mode = "constant", StreamOrDevice s = {});
LOWTIDE_PUBLIC array pad(const array& a, const std::vector<std::pair<int, int>>& pad_width,
                         const array& pad_value = array(0), const std::string& mode = "constant",
                         StreamOrDevice s = {});
LOWTIDE_PUBLIC array pad(const array& a, const std::pair<int, int>& pad_width, const array& pad_value = array(0),
                         const std::string& mode = "constant", StreamOrDevice s = {});
LOWTIDE_PUBLIC array pad(const array& a, int pad_width, const array& pad_value = array(0),
                         const std::string& mode = "constant", StreamOrDevice s = {});
LOWTIDE_PUBLIC array roll(const array& a, int shift, StreamOrDevice s = {});           ///< all elements, flattened
LOWTIDE_PUBLIC array roll(const array& a, const Shape& shift, StreamOrDevice s = {});  ///< by the sum of the shifts
LOWTIDE_PUBLIC array roll(const array& a, const Shape& shift, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array roll(const array& a, int shift, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array roll(const array& a, int shift, const std::vector<int>& axes, StreamOrDevice s = {});
LOWTIDE_PUBLIC array roll(const array& a, const Shape& shift, const std::vector<int>& axes, StreamOrDevice s = {});
/// Any arrangement of the elements: element i of the result is element offset + sum of i[d] * strides[d].
LOWTIDE_PUBLIC array as_strided(array a, Shape shape, Strides strides, size_t offset, StreamOrDevice s = {});
/// The product of the axes' extents, as a scalar; with inverted its reciprocal.
LOWTIDE_PUBLIC array number_of_elements(const array& a, std::vector<int> axes, bool inverted, Dtype dtype = int32,
                                        StreamOrDevice s = {});

// ---- Parts of arrays

/// Elements from start up to stop; negative ones count from the end, negative strides go backwards.
LOWTIDE_PUBLIC array slice(const array& a, Shape start, Shape stop, Shape strides, StreamOrDevice s = {});
inline array slice(const array& a, std::initializer_list<int> start, Shape stop, Shape strides, StreamOrDevice s = {}) {
  return slice(a, Shape(start.begin(), start.end()), std::move(stop), std::move(strides), s);
}
LOWTIDE_PUBLIC array slice(const array& a, Shape start, Shape stop, StreamOrDevice s = {});
/// Starts at the indices in the array `start`, in these axes; starts out of bounds are clamped.
LOWTIDE_PUBLIC array slice(const array& a, const array& start, std::vector<int> axes, Shape slice_size,
                           StreamOrDevice s = {});
/// src with a slice replaced by update, or combined with it.
LOWTIDE_PUBLIC array slice_update(const array& src, const array& update, Shape start, Shape stop, Shape strides,
                                  StreamOrDevice s = {});
LOWTIDE_PUBLIC array slice_update(const array& src, const array& update, Shape start, Shape stop,
                                  StreamOrDevice s = {});
LOWTIDE_PUBLIC array slice_update(const array& src, const array& update, const array& start, std::vector<int> axes,
                                  StreamOrDevice s = {});
inline array slice_update(const array& src, const array& update, std::initializer_list<int> start, Shape stop,
                          StreamOrDevice s = {}) {
  return slice_update(src, update, Shape(start.begin(), start.end()), std::move(stop), s);
}
LOWTIDE_PUBLIC array slice_update_add(const array& src, const array& update, Shape start, Shape stop, Shape strides,
                                      StreamOrDevice s = {});
LOWTIDE_PUBLIC array slice_update_add(const array& src, const array& update, Shape start, Shape stop,
                                      StreamOrDevice s = {});
LOWTIDE_PUBLIC array slice_update_prod(const array& src, const array& update, Shape start, Shape stop, Shape strides,
                                       StreamOrDevice s = {});
LOWTIDE_PUBLIC array slice_update_prod(const array& src, const array& update, Shape start, Shape stop,
                                       StreamOrDevice s = {});
LOWTIDE_PUBLIC array slice_update_max(const array& src, const array& update, Shape start, Shape stop, Shape strides,
                                      StreamOrDevice s = {});
LOWTIDE_PUBLIC array slice_update_max(const array& src, const array& update, Shape start, Shape stop,
                                      StreamOrDevice s = {});
LOWTIDE_PUBLIC array slice_update_min(const array& src, const array& update, Shape start, Shape stop, Shape strides,
                                      StreamOrDevice s = {});
LOWTIDE_PUBLIC array slice_update_min(const array& src, const array& update, Shape start, Shape stop,
                                      StreamOrDevice s = {});
/// Slices of slice_sizes at each index: the axes' index arrays are broadcast, and their dimensions come first. Negative
/// indices count from the end; indices out of bounds are clamped.
LOWTIDE_PUBLIC array gather(const array& a, const std::vector<array>& indices, const std::vector<int>& axes,
                            const Shape& slice_sizes, StreamOrDevice s = {});
inline array gather(const array& a, const array& indices, int axis, const Shape& slice_sizes, StreamOrDevice s = {}) {
  return gather(a, std::vector<array>{indices}, std::vector<int>{axis}, slice_sizes, s);
}
LOWTIDE_PUBLIC array take(const array& a, const array& indices, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array take(const array& a, int index, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array take(const array& a, const array& indices,
                          StreamOrDevice s = {});  ///< from all elements, flattened
LOWTIDE_PUBLIC array take(const array& a, int index, StreamOrDevice s = {});
LOWTIDE_PUBLIC array take_along_axis(const array& a, const array& indices, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array put_along_axis(const array& a, const array& indices, const array& values, int axis,
                                    StreamOrDevice s = {});
LOWTIDE_PUBLIC array scatter_add_axis(const array& a, const array& indices, const array& values, int axis,
                                      StreamOrDevice s = {});
/// Writes updates at each index; updates have the indices' dimensions and then a slice's. Those out of bounds are
/// dropped. Where several updates write one element, scatter keeps any of them.
LOWTIDE_PUBLIC array scatter(const array& a, const std::vector<array>& indices, const array& updates,
                             const std::vector<int>& axes, StreamOrDevice s = {});
inline array scatter(const array& a, const array& indices, const array& updates, int axis, StreamOrDevice s = {}) {
  return scatter(a, std::vector<array>{indices}, updates, std::vector<int>{axis}, s);
}
LOWTIDE_PUBLIC array scatter_add(const array& a, const std::vector<array>& indices, const array& updates,
                                 const std::vector<int>& axes, StreamOrDevice s = {});
inline array scatter_add(const array& a, const array& indices, const array& updates, int axis, StreamOrDevice s = {}) {
  return scatter_add(a, std::vector<array>{indices}, updates, std::vector<int>{axis}, s);
}
LOWTIDE_PUBLIC array scatter_prod(const array& a, const std::vector<array>& indices, const array& updates,
                                  const std::vector<int>& axes, StreamOrDevice s = {});
inline array scatter_prod(const array& a, const array& indices, const array& updates, int axis, StreamOrDevice s = {}) {
  return scatter_prod(a, std::vector<array>{indices}, updates, std::vector<int>{axis}, s);
}
LOWTIDE_PUBLIC array scatter_max(const array& a, const std::vector<array>& indices, const array& updates,
                                 const std::vector<int>& axes, StreamOrDevice s = {});
inline array scatter_max(const array& a, const array& indices, const array& updates, int axis, StreamOrDevice s = {}) {
  return scatter_max(a, std::vector<array>{indices}, updates, std::vector<int>{axis}, s);
}
LOWTIDE_PUBLIC array scatter_min(const array& a, const std::vector<array>& indices, const array& updates,
                                 const std::vector<int>& axes, StreamOrDevice s = {});
inline array scatter_min(const array& a, const array& indices, const array& updates, int axis, StreamOrDevice s = {}) {
  return scatter_min(a, std::vector<array>{indices}, updates, std::vector<int>{axis}, s);
}
/// a with the elements of src, in order, where the mask isn't 0. The mask has the leading dimensions of a; src has at
/// least as many elements as are replaced.
LOWTIDE_PUBLIC array masked_scatter(const array& a, const array& mask, const array& src, StreamOrDevice s = {});
LOWTIDE_PUBLIC array diagonal(const array& a, int offset = 0, int axis1 = 0, int axis2 = 1, StreamOrDevice s = {});
LOWTIDE_PUBLIC array diag(const array& a, int k = 0,
                          StreamOrDevice s = {});  ///< the diagonal of a matrix, or a matrix with that diagonal
LOWTIDE_PUBLIC array trace(const array& a, int offset, int axis1, int axis2, Dtype dtype, StreamOrDevice s = {});
LOWTIDE_PUBLIC array trace(const array& a, int offset, int axis1, int axis2, StreamOrDevice s = {});
LOWTIDE_PUBLIC array trace(const array& a, StreamOrDevice s = {});

// ---- Element by element: functions of one array
LOWTIDE_PUBLIC array abs(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array negative(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array positive(const array& a, StreamOrDevice s = {});  ///< the same elements
LOWTIDE_PUBLIC array sign(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array ceil(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array floor(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array trunc(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array square(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array sqrt(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array rsqrt(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array reciprocal(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array exp(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array expm1(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array log(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array log2(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array log10(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array log1p(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array sin(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array cos(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array tan(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arcsin(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arccos(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arctan(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array sinh(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array cosh(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array tanh(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arcsinh(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arccosh(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arctanh(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array sigmoid(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array erf(const array& a,
                         StreamOrDevice s = {});  ///< MLX's bits: within 2e-7; full precision for float64
LOWTIDE_PUBLIC array erfinv(const array& a, StreamOrDevice s = {});  ///< MLX's bits: float32 within 3 ulp
LOWTIDE_PUBLIC array degrees(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array radians(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array logical_not(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array bitwise_invert(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array isnan(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array isinf(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array isfinite(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array isposinf(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array isneginf(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array real(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array imag(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array conjugate(const array& a, StreamOrDevice s = {});
LOWTIDE_PUBLIC array round(const array& a, int decimals, StreamOrDevice s = {});  ///< ties to even
inline array round(const array& a, StreamOrDevice s = {}) { return round(a, 0, s); }
LOWTIDE_PUBLIC array nan_to_num(const array& a, float nan = 0.0f, const std::optional<float> posinf = {},
                                const std::optional<float> neginf = {}, StreamOrDevice s = {});
LOWTIDE_PUBLIC array clip(const array& a, const std::optional<array>& a_min = {},
                          const std::optional<array>& a_max = {}, StreamOrDevice s = {});

// ---- Element by element: functions of several

LOWTIDE_PUBLIC array add(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array subtract(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array multiply(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array divide(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array floor_divide(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array remainder(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array power(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array maximum(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array minimum(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array logaddexp(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array arctan2(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array equal(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array not_equal(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array less(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array less_equal(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array greater(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array greater_equal(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array logical_and(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array logical_or(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array logical_xor(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array bitwise_and(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array bitwise_or(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array bitwise_xor(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array left_shift(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array right_shift(const array& a, const array& b, StreamOrDevice s = {});
/// {floor_divide, remainder}; the remainder has the divisor's sign.
LOWTIDE_PUBLIC std::vector<array> divmod(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array where(const array& condition, const array& x, const array& y, StreamOrDevice s = {});
LOWTIDE_PUBLIC array isclose(const array& a, const array& b, double rtol = 1e-5, double atol = 1e-8,
                             bool equal_nan = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array allclose(const array& a, const array& b, double rtol = 1e-5, double atol = 1e-8,
                              bool equal_nan = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array array_equal(const array& a, const array& b, bool equal_nan, StreamOrDevice s = {});
inline array array_equal(const array& a, const array& b, StreamOrDevice s = {}) { return array_equal(a, b, false, s); }

// ---- Reductions

LOWTIDE_PUBLIC array sum(const array& a, bool keepdims,
                         StreamOrDevice s = {});  ///< int32 for booleans and small integers
inline array sum(const array& a, StreamOrDevice s = {}) { return sum(a, false, s); }
LOWTIDE_PUBLIC array sum(const array& a, const std::vector<int>& axes, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array sum(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array prod(const array& a, bool keepdims, StreamOrDevice s = {});
inline array prod(const array& a, StreamOrDevice s = {}) { return prod(a, false, s); }
LOWTIDE_PUBLIC array prod(const array& a, const std::vector<int>& axes, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array prod(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array max(const array& a, bool keepdims, StreamOrDevice s = {});  ///< NaN if any element is
inline array max(const array& a, StreamOrDevice s = {}) { return max(a, false, s); }
LOWTIDE_PUBLIC array max(const array& a, const std::vector<int>& axes, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array max(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array min(const array& a, bool keepdims, StreamOrDevice s = {});
inline array min(const array& a, StreamOrDevice s = {}) { return min(a, false, s); }
LOWTIDE_PUBLIC array min(const array& a, const std::vector<int>& axes, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array min(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC std::tuple<array, array> minmax(const array& a, bool keepdims, StreamOrDevice s = {});
inline std::tuple<array, array> minmax(const array& a, StreamOrDevice s = {}) { return minmax(a, false, s); }
LOWTIDE_PUBLIC std::tuple<array, array> minmax(const array& a, const std::vector<int>& axes, bool keepdims = false,
                                               StreamOrDevice s = {});
LOWTIDE_PUBLIC std::tuple<array, array> minmax(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array all(const array& a, bool keepdims, StreamOrDevice s = {});
inline array all(const array& a, StreamOrDevice s = {}) { return all(a, false, s); }
LOWTIDE_PUBLIC array all(const array& a, const std::vector<int>& axes, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array all(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array any(const array& a, bool keepdims, StreamOrDevice s = {});
inline array any(const array& a, StreamOrDevice s = {}) { return any(a, false, s); }
LOWTIDE_PUBLIC array any(const array& a, const std::vector<int>& axes, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array any(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array mean(const array& a, bool keepdims, StreamOrDevice s = {});
inline array mean(const array& a, StreamOrDevice s = {}) { return mean(a, false, s); }
LOWTIDE_PUBLIC array mean(const array& a, const std::vector<int>& axes, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array mean(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array var(const array& a, bool keepdims, int ddof = 0, StreamOrDevice s = {});
inline array var(const array& a, StreamOrDevice s = {}) { return var(a, false, 0, s); }
LOWTIDE_PUBLIC array var(const array& a, const std::vector<int>& axes, bool keepdims = false, int ddof = 0,
                         StreamOrDevice s = {});
LOWTIDE_PUBLIC array var(const array& a, int axis, bool keepdims = false, int ddof = 0, StreamOrDevice s = {});
LOWTIDE_PUBLIC array std(const array& a, bool keepdims, int ddof = 0, StreamOrDevice s = {});
inline array std(const array& a, StreamOrDevice s = {}) { return std(a, false, 0, s); }
LOWTIDE_PUBLIC array std(const array& a, const std::vector<int>& axes, bool keepdims = false, int ddof = 0,
                         StreamOrDevice s = {});
LOWTIDE_PUBLIC array std(const array& a, int axis, bool keepdims = false, int ddof = 0, StreamOrDevice s = {});
LOWTIDE_PUBLIC array logsumexp(const array& a, bool keepdims, StreamOrDevice s = {});
inline array logsumexp(const array& a, StreamOrDevice s = {}) { return logsumexp(a, false, s); }
LOWTIDE_PUBLIC array logsumexp(const array& a, const std::vector<int>& axes, bool keepdims = false,
                               StreamOrDevice s = {});
LOWTIDE_PUBLIC array logsumexp(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array median(const array& a, bool keepdims, StreamOrDevice s = {});
inline array median(const array& a, StreamOrDevice s = {}) { return median(a, false, s); }
LOWTIDE_PUBLIC array median(const array& a, const std::vector<int>& axes, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array median(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array count_nonzero(const array& a, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array count_nonzero(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array count_nonzero(const array& a, const std::vector<int>& axes, bool keepdims = false,
                                   StreamOrDevice s = {});
LOWTIDE_PUBLIC array argmax(const array& a, bool keepdims, StreamOrDevice s = {});  ///< uint32; the first of equals
inline array argmax(const array& a, StreamOrDevice s = {}) { return argmax(a, false, s); }
LOWTIDE_PUBLIC array argmax(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array argmin(const array& a, bool keepdims, StreamOrDevice s = {});  ///< uint32; the first of equals
inline array argmin(const array& a, StreamOrDevice s = {}) { return argmin(a, false, s); }
LOWTIDE_PUBLIC array argmin(const array& a, int axis, bool keepdims = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array softmax(const array& a, const std::vector<int>& axes, bool precise = false, StreamOrDevice s = {});
LOWTIDE_PUBLIC array softmax(const array& a, bool precise = false, StreamOrDevice s = {});
inline array softmax(const array& a, int axis, bool precise = false, StreamOrDevice s = {}) {
  return softmax(a, std::vector<int>{axis}, precise, s);
}
/// Running sums, products, maxima and minima along an axis, or over all elements, flattened; without `inclusive`
/// element i excludes itself: it covers only those before it. dtype: the type in which sums are computed; sums of
/// booleans are int32.
LOWTIDE_PUBLIC array cumsum(const array& a, bool reverse = false, bool inclusive = true,
                            std::optional<Dtype> dtype = {}, StreamOrDevice s = {});
LOWTIDE_PUBLIC array cumsum(const array& a, int axis, bool reverse = false, bool inclusive = true,
                            std::optional<Dtype> dtype = {}, StreamOrDevice s = {});
LOWTIDE_PUBLIC array cumprod(const array& a, bool reverse = false, bool inclusive = true,
                             std::optional<Dtype> dtype = {}, StreamOrDevice s = {});
LOWTIDE_PUBLIC array cumprod(const array& a, int axis, bool reverse = false, bool inclusive = true,
                             std::optional<Dtype> dtype = {}, StreamOrDevice s = {});
inline array cumsum(const array& a, bool reverse, bool inclusive, StreamOrDevice s) {
  return cumsum(a, reverse, inclusive, std::nullopt, s);
}
inline array cumsum(const array& a, int axis, bool reverse, bool inclusive, StreamOrDevice s) {
  return cumsum(a, axis, reverse, inclusive, std::nullopt, s);
}
inline array cumprod(const array& a, bool reverse, bool inclusive, StreamOrDevice s) {
  return cumprod(a, reverse, inclusive, std::nullopt, s);
}
inline array cumprod(const array& a, int axis, bool reverse, bool inclusive, StreamOrDevice s) {
  return cumprod(a, axis, reverse, inclusive, std::nullopt, s);
}
LOWTIDE_PUBLIC array cummax(const array& a, bool reverse = false, bool inclusive = true, StreamOrDevice s = {});
LOWTIDE_PUBLIC array cummax(const array& a, int axis, bool reverse = false, bool inclusive = true,
                            StreamOrDevice s = {});
LOWTIDE_PUBLIC array cummin(const array& a, bool reverse = false, bool inclusive = true, StreamOrDevice s = {});
LOWTIDE_PUBLIC array cummin(const array& a, int axis, bool reverse = false, bool inclusive = true,
                            StreamOrDevice s = {});
LOWTIDE_PUBLIC array logcumsumexp(const array& a, bool reverse = false, bool inclusive = true, StreamOrDevice s = {});
LOWTIDE_PUBLIC array logcumsumexp(const array& a, int axis, bool reverse = false, bool inclusive = true,
                                  StreamOrDevice s = {});
LOWTIDE_PUBLIC array diff(const array& a, int n = 1, int axis = -1, StreamOrDevice s = {});

// ---- Order

LOWTIDE_PUBLIC array sort(const array& a, StreamOrDevice s = {});  ///< ascending; NaN last; all elements, flattened
LOWTIDE_PUBLIC array sort(const array& a, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array argsort(const array& a, StreamOrDevice s = {});  ///< uint32; stable; all elements, flattened
LOWTIDE_PUBLIC array argsort(const array& a, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array
partition(const array& a, int kth,
          StreamOrDevice s = {});  ///< puts the kth smallest at kth, smaller ones before it; sorts all elements
LOWTIDE_PUBLIC array partition(const array& a, int kth, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array argpartition(const array& a, int kth, StreamOrDevice s = {});  ///< uint32
LOWTIDE_PUBLIC array argpartition(const array& a, int kth, int axis, StreamOrDevice s = {});
LOWTIDE_PUBLIC array topk(const array& a, int k, StreamOrDevice s = {});  ///< the k largest, ascending
LOWTIDE_PUBLIC array topk(const array& a, int k, int axis, StreamOrDevice s = {});
/// The indices at which values would be inserted in a sorted vector: before equal elements ("left") or after them
/// ("right"). uint32.
LOWTIDE_PUBLIC array searchsorted(const array& sorted_sequence, const array& values, const std::string& side = "left",
                                  StreamOrDevice s = {});
/// The first `size` of the distinct elements, ascending; if there are fewer, the rest is fill_value, or the smallest.
/// Then, if asked for: the index of each one's first occurrence in a (uint32), the index of each of a's elements among
/// the distinct ones (uint32, of a's shape; the last one for those left out), and the counts (int32).
LOWTIDE_PUBLIC std::vector<array> unique(const array& a, int size, bool return_index = false,
                                         bool return_inverse = false, bool return_counts = false,
                                         const std::optional<array>& fill_value = {}, StreamOrDevice s = {});

// ---- Products

LOWTIDE_PUBLIC array matmul(const array& a, const array& b, StreamOrDevice s = {});  ///< floats; vectors as in NumPy
LOWTIDE_PUBLIC array addmm(array c, array a, array b, const float& alpha = 1.f, const float& beta = 1.f,
                           StreamOrDevice s = {});
/// Products of the matrices of a and b that the indices select, counted over all batch dimensions; without indices in
/// order.
LOWTIDE_PUBLIC array gather_mm(array a, array b, std::optional<array> lhs_indices = {},
                               std::optional<array> rhs_indices = {}, bool sorted_indices = false,
                               StreamOrDevice s = {});
/// a[:, from:to] b[from:to, :] of two matrices, for each (from, to) along the last dimension of segments.
LOWTIDE_PUBLIC array segmented_mm(array a, array b, array segments, StreamOrDevice s = {});
/// matmul() whose operands and result are multiplied by masks, in which each element covers a block of block_size x
/// block_size; if a boolean mask is false the block counts as 0.
LOWTIDE_PUBLIC array block_masked_mm(array a, array b, int block_size, std::optional<array> mask_out = {},
                                     std::optional<array> mask_lhs = {}, std::optional<array> mask_rhs = {},
                                     StreamOrDevice s = {});
/// Rows times the Hadamard matrix of order m 2^k, where m is 1, 12, 20 or 28; scale: 1 / sqrt(m 2^k).
LOWTIDE_PUBLIC array hadamard_transform(const array& a, std::optional<float> scale = {}, StreamOrDevice s = {});
LOWTIDE_PUBLIC array tensordot(const array& a, const array& b, const int axis = 2, StreamOrDevice s = {});
LOWTIDE_PUBLIC array tensordot(const array& a, const array& b, const std::vector<int>& axes_a,
                               const std::vector<int>& axes_b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array outer(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array inner(const array& a, const array& b, StreamOrDevice s = {});
LOWTIDE_PUBLIC array vecdot(const array& a, const array& b, int axis = -1, StreamOrDevice s = {});
LOWTIDE_PUBLIC array kron(const array& a, const array& b, StreamOrDevice s = {});
/// "ij,jk->ik", "...ij,jk": as in NumPy; without "->" the result has the dimensions of "..." and then the letters that
/// occur once, in alphabetical order.
LOWTIDE_PUBLIC array einsum(const std::string& subscripts, const std::vector<array>& operands, StreamOrDevice s = {});
/// For each step, the operands that it multiplies, whose product is appended to the remaining operands; and a
/// description of the steps.
LOWTIDE_PUBLIC std::pair<std::vector<std::vector<int>>, std::string> einsum_path(const std::string& subscripts,
                                                                                 const std::vector<array>& operands);
/// input: (batch, spatial..., features); weight: (output features, spatial..., features / groups).
LOWTIDE_PUBLIC array conv_general(array input, array weight, std::vector<int> stride, std::vector<int> padding_lo,
                                  std::vector<int> padding_hi, std::vector<int> kernel_dilation = {},
                                  std::vector<int> input_dilation = {}, int groups = 1, bool flip = false,
                                  StreamOrDevice s = {});
inline array conv_general(const array& input, const array& weight, std::vector<int> stride = {},
                          std::vector<int> padding = {}, std::vector<int> kernel_dilation = {},
                          std::vector<int> input_dilation = {}, int groups = 1, bool flip = false,
                          StreamOrDevice s = {}) {
  return conv_general(input, weight, std::move(stride), padding, padding, std::move(kernel_dilation),
                      std::move(input_dilation), groups, flip, s);
}
LOWTIDE_PUBLIC array conv1d(const array& input, const array& weight, int stride = 1, int padding = 0, int dilation = 1,
                            int groups = 1, StreamOrDevice s = {});
LOWTIDE_PUBLIC array conv2d(const array& input, const array& weight, const std::pair<int, int>& stride = {1, 1},
                            const std::pair<int, int>& padding = {0, 0}, const std::pair<int, int>& dilation = {1, 1},
                            int groups = 1, StreamOrDevice s = {});
LOWTIDE_PUBLIC array conv3d(const array& input, const array& weight,
                            const std::tuple<int, int, int>& stride = {1, 1, 1},
                            const std::tuple<int, int, int>& padding = {0, 0, 0},
                            const std::tuple<int, int, int>& dilation = {1, 1, 1}, int groups = 1,
                            StreamOrDevice s = {});
/// Each element of the input is spread over a window of the result, with windows `stride` apart; padding crops both
/// ends, and output_padding extends the far one.
LOWTIDE_PUBLIC array conv_transpose1d(const array& input, const array& weight, int stride = 1, int padding = 0,
                                      int dilation = 1, int output_padding = 0, int groups = 1, StreamOrDevice s = {});
LOWTIDE_PUBLIC array conv_transpose2d(const array& input, const array& weight,
                                      const std::pair<int, int>& stride = {1, 1},
                                      const std::pair<int, int>& padding = {0, 0},
                                      const std::pair<int, int>& dilation = {1, 1},
                                      const std::pair<int, int>& output_padding = {0, 0}, int groups = 1,
                                      StreamOrDevice s = {});
LOWTIDE_PUBLIC array conv_transpose3d(const array& input, const array& weight,
                                      const std::tuple<int, int, int>& stride = {1, 1, 1},
                                      const std::tuple<int, int, int>& padding = {0, 0, 0},
                                      const std::tuple<int, int, int>& dilation = {1, 1, 1},
                                      const std::tuple<int, int, int>& output_padding = {0, 0, 0}, int groups = 1,
                                      StreamOrDevice s = {});

}  // namespace lowtide

#include "lowtide/operators.h"  // NOLINT: they are part of this header
